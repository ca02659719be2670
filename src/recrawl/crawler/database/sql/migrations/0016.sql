-- A search looks up to a thousand words, and each look would read all that is not in the index yet.
ALTER INDEX document_by_words SET (fastupdate = off);
SELECT gin_clean_pending_list('document_by_words');
