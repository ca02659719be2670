"""Reading in processes of its own, where no page can hurt: bounded in time, memory and reach."""
