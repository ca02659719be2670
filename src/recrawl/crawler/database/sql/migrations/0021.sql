-- A page is of the listing that told its latest date, whatever it was found on first.
DO $$ BEGIN
    EXECUTE replace(pg_get_functiondef('make_writers()'::regprocedure), ', found_on', '');
END $$;
SELECT make_writers();
