"""Online decisions: told the time and what happened, they say what to do.

======================= ==========================================================
:mod:`.texts`           what a page says: in pieces, and beside what it said
:mod:`.answers`         what an answer means, and what becomes of its page
:mod:`.addresses`       which addresses belong to a crawl, and are worth a try
:mod:`.worth`           what a request is worth, whatever it is for
:mod:`.revisiting`      what is believed of pages, and when each is due again
:mod:`.dispatching`     which request is next, and when its host may be asked
:mod:`.fleet`           how many robots run
======================= ==========================================================

Each of them knows those above it, but for the last three, which know nothing of each other; all
share addresses in normal form (:mod:`.urls`) and the history of pages as columns
(:mod:`.evidence`).
"""
