"""Days and months of calendars, which link to all of them, whether there is something or not."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from recrawl.crawler.control.urls import RECENT, host_of, path_of

# In the languages of most pages of the web; months but the English ones.
MONTHS: Final = """
    januar jänner februar märz april mai juni juli august september oktober november dezember
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    gennaio febbraio aprile maggio giugno luglio settembre ottobre novembre dicembre
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    januari februari maart mei augustus december maj augusti marts oktober desember
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada
    grudnia января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
""".split()
WEEKDAYS: Final = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat
    sun montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado
    domingo lunedì martedì mercoledì giovedì venerdì sabato domenica segunda-feira terça-feira
    quarta-feira quinta-feira sexta-feira maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    понедельник вторник среда четверг пятница суббота воскресенье
""".split()
_ENGLISH: Final = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
""".split()
_NAMES: Final = frozenset([*MONTHS, *WEEKDAYS, *_ENGLISH])
_SIGNS: Final = ".,:;!?()[]'\"\u00ab\u00bb\u2039\u203a"
_MONTH: Final = r"(?:0?[1-9]|1[0-2])"
_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_DATE_AT_END: Final = re.compile(
    rf"/(?:19|20)\d\d([-_/]){_MONTH}(?P<day>\1{_DAY})?(?:/|\.x?html?)?$"
)
_DATE_IN_QUERY: Final = re.compile(
    rf"(?<=[?&;])(?P<name>[\w.\[\]-]{{1,40}})="
    rf"(?:(?:19|20)\d\d-{_MONTH}(?:-{_DAY})?(?:T(?:[\d:.]|%3A){{0,24}}(?:Z|(?:%2B|[+-])\d\d(?:\d|:|%3A){{0,5}})?)?"
    r"|(?<=time=|date=)(?:1\d{9}|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])))(?=[&;]|$)",
    re.IGNORECASE,
)
_SECONDS: Final = re.compile(r"(?:time|date)=1\d{9}(?:[&;]|$)", re.IGNORECASE)
# Or in several parameters, of which those of a year and a month are enough: year=2026&month=2.
_NAMED: Final = r"(?<=[?&;])(?:[\w.%-]{{0,30}}(?:[_.\[-]|%5B))?(?:{})(?:\]|%5D)?="
_YEAR_IN_QUERY: Final = re.compile(
    rf"({_NAMED.format('annee|jahr|y|year|yr')})(?:19|20)\d\d(?=[&;]|$)", re.IGNORECASE
)
_MONTH_IN_QUERY: Final = re.compile(
    rf"({_NAMED.format('m|mes|mo|mois|mon|monat|month')}){_MONTH}(?=[&;]|$)", re.IGNORECASE
)
_DAY_IN_QUERY: Final = re.compile(
    rf"({_NAMED.format('d|day|dia|jour|tag')}){_DAY}(?=[&;]|$)", re.IGNORECASE
)
_DATE: Final = re.compile(
    rf"(?:19|20)\d\d([-/.]){_MONTH}(?:\1{_DAY})?|{_DAY}([-/.]){_DAY}\2(?:19|20)\d\d"
)
_LONGEST: Final = 4  # digits of one
_IN_A_ROW: Final = 4
_LAST: Final = frozenset({12, 28, 29, 30, 31, 52, 53})  # of months, days and weeks: 1 follows
_NUMBER: Final = re.compile(rf"{_DAY}(?:st|nd|rd|th)?|(?:19|20)\d\d")


@lru_cache(RECENT)
def calendar_of(url: str) -> str | None:
    """Return what an address is a day or a month of; None: of nothing.

    A date stands at the end of the path, or is the value of a parameter: ``date=2026-02-05``, or
    where the name ends in ``date`` or ``time`` also ``20260205`` and seconds since 1970; or those
    of two or three: ``year=2026&month=2``.
    """
    path = path_of(url)
    found = _DATE_AT_END.search(path)
    if found is not None:
        return path[: found.start()]
    if "?" not in path:
        return None
    changed, n = _DATE_IN_QUERY.subn(r"\g<name>=", path)
    if n:
        return changed
    changed, n_years = _YEAR_IN_QUERY.subn(r"\1", path)
    changed, n_months = _MONTH_IN_QUERY.subn(r"\1", changed)
    return _DAY_IN_QUERY.sub(r"\1", changed) if n_years and n_months else None


def month_of(url: str) -> str | None:
    """Return the address of the month that an address is a day of; None: it is of none.

    Parameters
    ----------
    url : with the date at the end of its path
    """
    host, path = host_of(url), path_of(url)
    found = _DATE_AT_END.search(path)
    if found is None or not found["day"]:
        return None
    return f"{host}{path[: found.start('day')]}{path[found.end('day') :]}"


def beside_dates(words: Iterable[str], url: str) -> list[str]:
    """Return the words but the names of days and months, and dates.

    Where an address tells the date in seconds also but what may be the number of a day or year.

    Parameters
    ----------
    words : in lower case, with signs around them or without
    url : of the page that says them
    """
    bare = ((word, word.strip(_SIGNS)) for word in words)
    is_told = _SECONDS.search(url) is None
    return [
        word for word, name in bare
        if name not in _NAMES
        and _DATE.fullmatch(name) is None
        and (is_told or _NUMBER.fullmatch(name) is None)
    ]  # fmt: skip


def uncounted(words: Sequence[str]) -> Sequence[str]:
    """Return the words but numbers that count up, as those of days, weeks and years in a table.

    Those between them as well: of the weeks of a month, each before its days.
    """
    while True:
        left: list[str] = []
        before, n = -1, 0  # the last number, and how many count up to it
        for word in (*words, ""):
            number = int(word) if word.isdecimal() and len(word) <= _LONGEST else -1
            is_next = number == before + 1 or (number == 1 and before in _LAST)
            if not (is_next and n):
                if n >= _IN_A_ROW:
                    del left[-n:]
                n = 0
            n += number >= 0
            before = number
            left.append(word)
        left.pop()
        if len(left) == len(words):
            return words
        words = left
