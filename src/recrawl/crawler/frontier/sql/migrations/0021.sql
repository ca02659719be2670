-- What was put off as nothing new was judged by other rules; it is judged once more.
UPDATE page SET due_s = discovered_s WHERE tier = 0 AND due_s > discovered_s
    AND due_why = 'addresses of its kind have brought nothing new: only few of them are tried';
