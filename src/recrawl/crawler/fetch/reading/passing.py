"""Parts of texts that change by themselves, in many languages: ages, dates, counters.

``vor 5 Minuten``, ``il y a 3 jours``, ``2 ore fa``, ``Aufrufe: 1.024``, ``gelesen 7 mal``: a page
that says so says nothing new when it says 6. Each pattern is looked for only where a word that it
needs is in the text, so that a page is searched for what it has. Longer than most, as languages
have words of their own for all that.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.crawler.control.addresses.calendars import MONTHS, WEEKDAYS
from recrawl.crawler.control.texts.letters import lower, may_run_on

# What people count of a page that others read, in the languages of most pages of the web.
_COUNTED: Final = (
    "views", "page views", "pageviews", "hits", "visits", "visitors", "downloads",
    "aufrufe", "zugriffe", "besuche", "besucher", "vues", "lectures", "visites", "visitas",
    "vistas", "lecturas", "visualizzazioni", "visite", "letture", "visualizações", "weergaven",
    "visningar", "visninger", "wyświetleń", "wyświetlenia", "odsłon", "zobrazení", "просмотров",
    "просмотры", "просмотра", "переглядів", "görüntüleme", "lượt xem", "浏览", "瀏覽", "阅读",
    "閲覧数", "조회수", "조회", "瀏覽人次", "點閱數", "回視聴", "回再生", "görüntülenme", "okunma",
    "مشاهدة", "مشاهدات", "المشاهدات", "الزيارات", "بازدید", "צפיות", "ผู้เข้าชม", "จำนวนผู้ชม",
    "προβολές", "dilihat", "followers", "subscribers", "upvotes", "watchers", "weekly downloads",
)  # fmt: skip
_COUNTS: Final = (  # of what is done, as nouns: other words may stand before and behind at once
    "阅读", "浏览", "瀏覽", "访问", "点击", "點閱", "播放", "下载", "閲覧", "再生", "アクセス",
    "조회",
)  # fmt: skip
# Told without a colon too.
_BARE: Final = ("views", "vues", "visitas", "aufrufe", "zugriffe", "weekly downloads")
_COMMENTS: Final = (  # which are in the text themselves where it is theirs
    "comments", "kommentare", "commentaires", "comentarios", "comentários", "commenti", "reacties",
    "kommentarer", "komentarze", "komentarzy", "komentáře", "komentářů", "комментарии",
    "комментария", "комментариев", "yorum", "bình luận", "评论", "評論", "コメント", "댓글",
)  # fmt: skip
_NO_COMMENTS: Final = (  # what stands where "1 comment" will
    "leave a comment", "leave a reply", "no comments", "no responses", "be the first to comment",
)  # fmt: skip
# What forums count beside the name of whoever wrote, whatever that says, and of all who do.
_WRITTEN: Final = (
    "posts", "beiträge", "inlägg", "indlæg", "viestit", "viestejä", "příspěvky", "posty", "帖子",
)  # fmt: skip
_BESIDE_WRITTEN: Final = "threads|topics|reputation|karma|likes(?: received)?|thanks|points|themen"
_OF_ALL: Final = ("posts", "topics", "threads", "members")
# What forums call the box beside a post that says who wrote it: how much else, in any language.
_AUTHORS: Final = (
    "postprofile", "userinfo_extra", "userstats", "author_statistics", "message-userExtras",
    "postcount", "postleft", "cAuthorPane", "userCredits",
)  # fmt: skip
_TIMES_DONE: Final = {  # "read 340 times", "340 mal gelesen"
    "times": "read|viewed|accessed|visited|downloaded|seen|opened|played|favou?rited|bookmarked"
    "|(?:has|have|been) thanked:?",
    "mal": "gelesen|aufgerufen|abgerufen|angesehen|angeklickt|besucht|heruntergeladen",
    "fois": "lue?|vue?|consultée?|téléchargée?|visitée?",
    "veces": "leíd[oa]|vist[oa]|visitad[oa]|descargad[oa]",
    "vezes": "lid[oa]|vist[oa]|visitad[oa]|acessad[oa]",
    "volte": "lett[oa]|vist[oa]|visitat[oa]|scaricat[oa]",
    "keer": "gelezen|bekeken|bezocht|gedownload",
    "раз": "прочитано|просмотрено|скачано",
    "kali": "dilihat|dibaca|diunduh",
    "ครั้ง": "อ่าน|เข้าชม|ผู้เข้าชม|ดาวน์โหลด",
}
# How long a program took for the page; what takes long else is what people write about.
_MADE: Final = "generated created rendered executed processed served took erstellt généré".split()
_LASTED: Final = r"\d{1,5}(?:[.,]\d{1,12})? ?(?:m?s|secs?|m?(?:illi)?seconds?|sekunden|secondes)\b"
_QUERIES: Final = r"\d{1,5} (?:\w{1,20} )?queries\b"
_ASKED: Final = rf"(?:,? (?:with|using|and) {_QUERIES}| \({_QUERIES}(?: in {_LASTED})?\))?"
_NUMBER: Final = r"\d{1,4}(?:[.,]\d)?"
# Before which an age stands: the words around it, its units, and whether one of them goes unsaid.
_AFTER: Final = {
    "fa": r"second[oi]|sec\.?|minut[oi]|min\.?|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]",
    "geleden": r"seconden?|minu(?:ut|ten)|min\.?|u(?:ur|ren)|dag(?:en)?|we(?:ek|ken)|maand(?:en)?"
               r"|ja(?:ar|ren)",
    "temu": r"sekund[ęy]?|sek\.?|minut[ęy]?|min\.?|godzin[ęy]?|godz\.?|dni|dzień|tygod(?:nie?|zień)"
            r"|tydzień|miesi(?:ęcy|ące|ąc)|mies\.?|lata?|roku?",
    "назад": r"секунд[уы]?|сек\.?|минут[уы]?|мин\.?|час(?:а|ов)?|ч\.?|дн(?:я|ей)|день|недел[юиья]"
             r"|месяц(?:а|ев)?|мес\.?|лет|года?",
    "тому": r"секунд[уи]?|хвилин[уи]?|хв\.?|годин[уи]?|год\.?|дн(?:і|ів)|день|тиж(?:день|ні|нів)"
            r"|місяц(?:ь|і|ів)|рок(?:ів|и)|рік",
    "sedan": r"sekund(?:er)?|minut(?:er)?|min\.?|timm(?:e|ar)|tim\.?|dag(?:ar)?|veck(?:a|or)"
             r"|månad(?:er)?|år",
    "siden": r"sekund(?:er)?|minutt?(?:er)?|min\.?|time[rn]?|dag(?:e|er)?|uger?|uker?"
             r"|måned(?:er)?|år",
    "sitten": r"sekunti[an]*|minuutti[an]*|tunti[an]*|päivä[än]*|viikko[an]*|kuukau\w{2,4}"
              r"|vuo\w{2,4}",
    "önce": r"saniye|dakika|dk\.?|saat|gün|hafta|ay|yıl",
    "atrás": r"segundos?|minutos?|min\.?|horas?|dias?|días?|semanas?|m[êe]s(?:es)?|anos?|años?",
    "trước": r"giây|phút|giờ|ngày|tuần|tháng|năm",
    "پیش": "ثانیه|دقیقه|ساعت|روز|هفته|ماه|سال",
    "पहले": "सेकंड|मिनट|घंटे|घंटा|दिन|हफ़्ते|सप्ताह|महीने|साल|वर्ष",
    "lalu": r"detik|menit|jam|hari|minggu|bulan|tahun",
    "前": r"秒|分|分钟|分鐘|小时|小時|時間|天|日|周|週|週間|个月|個月|か月|ヶ月|カ月|年",
    "전": r"초|분|시간|일|주|개월|달|년",
}  # fmt: skip
# What an age stands behind.
_BEFORE: Final = {
    "vor ": r"(?:\d{1,4}|einer?|einem|einigen|wenigen) (?:sekunden?|sek\.?|minuten?|min\.?|stunden?"
            r"|std\.?|tag(?:en?)?|wochen?|monat(?:en?)?|jahr(?:en?)?)",
    "il y a ": r"(?:\d{1,4}|une?|quelques) ?(?:secondes?|sec\.?|minutes?|min\.?|heures?|h|jours?|j"
               r"|semaines?|sem\.?|mois|années?|ans?)",
    "hace ": r"(?:\d{1,4}|una?|pocos|pocas) ?(?:segundos?|seg\.?|minutos?|min\.?|horas?|h|días?|d"
             r"|semanas?|mes(?:es)?|años?)",
    "há ": r"(?:\d{1,4}|uma?|poucos|poucas) ?(?:segundos?|seg\.?|minutos?|min\.?|horas?|h|dias?|d"
           r"|semanas?|m[êe]s(?:es)?|anos?)",
    "před ": r"\d{1,4} ?(?:sekund\w{0,4}|minut\w{0,4}|min\.?|hodin\w{0,4}|dn\w{1,3}|týdn\w{1,3}"
             r"|měsíc\w{0,3}|lety|roky)",
    "acum ": r"(?:\d{1,4}(?: de)?|un|o) (?:secund[eă]|minute?|min\.?|or[eă]|zile|zi"
             r"|săptămân[iă]|luni|lună|ani?)",
    "πριν ": r"(?:από )?\d{1,4} \w{1,12}",
    "منذ ": r"\d{1,4} \w{2,10}",
    "לפני ": r"\d{1,4} (?:שניות|דקות|שעות|ימים|שבועות|חודשים|שנים)",
}  # fmt: skip
_APART: Final = r",? (?:\w{1,3} )?"  # between two units of an age: "3 Jahre und 2 Wochen"
_BETWEEN: Final = " ?"  # in scripts without spaces
# Behind which it is told how long something has lasted so far, in two units or more: "member for
# 5 years" alone may be what is asked of people.
_SINCE: Final = {
    "member for": r"(?:second|sec|minute|min|hour|day|week|month|year)s?",
    "mitglied seit": r"sek(?:unden?|\.)|min(?:uten?|\.)|std\.|stunden?|tag(?:en?)?|wochen?"
                     r"|monat(?:en?)?|jahr(?:en?)?",
    "membre depuis": r"sec(?:ondes?|\.)|min(?:utes?|\.)|heures?|jours?|semaines?|mois|ans?|années?",
    "lid sinds": r"sec(?:onden?|\.)|min(?:uut|uten|\.)|u(?:ur|ren)|dag(?:en)?|we(?:ek|ken)"
                 r"|maand(?:en)?|ja(?:ar|ren)",
}  # fmt: skip
_SINCE["uptime"] = _SINCE["member for"]
_AGO_IN_THAI: Final = ("ที่แล้ว", "ที่ผ่านมา")  # behind their units without a space
_UNITS_IN_THAI: Final = ("วินาที", "นาที", "ชั่วโมง", "วัน", "สัปดาห์", "เดือน", "ปี")
# Months of languages that name none in addresses; those of Hebrew with what is written before.
_MORE_MONTHS: Final = """
    ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου
    νοεμβρίου δεκεμβρίου maret agustus desember
    січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
    يناير فبراير مارس أبريل ابريل إبريل مايو يونيو يونيه يوليو يوليه أغسطس اغسطس سبتمبر أكتوبر
    اكتوبر نوفمبر ديسمبر شباط آذار نيسان أيار حزيران تموز آب أيلول
    فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند
    ژانویه فوریه مارس آوریل مه ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر
    בינואר בפברואר במרץ באפריל במאי ביוני ביולי באוגוסט בספטמבר באוקטובר בנובמבר בדצמבר
    जनवरी फ़रवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर सितम्बर अक्टूबर अक्तूबर नवंबर नवम्बर
    दिसंबर दिसम्बर
    มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน
    ธันวาคม ม.ค. ก.พ. มี.ค. เม.ย. พ.ค. มิ.ย. ก.ค. ส.ค. ก.ย. ต.ค. พ.ย. ธ.ค.
""".split()
_ROUGHLY: Final = (
    r"(?:etwa|ca\.?|circa|ungefähr|rund|fast|knapp|über|mehr als|weniger als|environ|presque"
    r"|plus d['e]|moins d['e]|à peine|unos|unas|aproximadamente|alrededor de|cerca de|casi|quase"
    r"|m[áa]i?s de|menos de|più di|meno di|ongeveer|bijna|meer dan|ponad|około|около|более|yaklaşık"
    r"|cirka|omkring)"
)
_UNSAID: Final = r"(?:un[ao]? |un['’]|een |en |ett |et |bir )"
# Today is yesterday tomorrow, and a date the day after: of "today, #" the day goes too.
_DAYS: Final = (
    "today", "yesterday", "heute", "gestern", "aujourd'hui", "hier", "hoy", "ayer", "oggi", "ieri",
    "hoje", "ontem", "vandaag", "gisteren", "сегодня", "вчера", "dzisiaj", "wczoraj", "i dag",
    "i går",
)  # fmt: skip
_THE_DATE: Final = (  # "thursday, 26 november 2026", "thu nov 26, 2026"
    r"\.?(?=,? (?:den |der |le |the )?(?:#|\d{1,2}[ ./-]|\d{4}-\d\d-"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? \d))"
)
_WEEKDAY_AFTER: Final = (
    r"(?: ?(?:[(（][一二三四五六日月火水木金土월화수목금토일][)）]|(?:星期|週|周)[一二三四五六日天]"
    r"|[(（]?(?:[日月火水木金土]曜日?|[월화수목금토일]요일)[)）]?))?"
)
_AT: Final = r"(?=,? (?:um |à |a las |alle |às |om |в |o |kl\.? )?\d{1,2}[:.h]\d{2})"
_COUNT: Final = r"\d[\d,.]{0,20}"
_NO_MONEY: Final = r"(?![\w%€$£]| [%€$£]| euro| pro )"
_REACH: Final = 48  # characters before a word in which what it ends begins
_WITHOUT_SPACES: Final = "前전"  # in scripts that need none

# Where a manual of a program says that something stands in its source, and what likes are told by.
_IN_SOURCE: Final = (
    "definition at line", "definiert in zeile", "définition à la ligne", "definición en la línea",
)  # fmt: skip
_LIKED: Final = r"(?<=[(\[])[★⭐☆]\ufe0f? ?(?:\d[\d,.]{{0,9}}k|\d[\d,]{{{},12}})(?=[)\]])"
_MANY_LIKES: Final = re.compile(_LIKED.format(1))
_LIKES: Final = re.compile(_LIKED.format(0))

_UNITS_AGO: Final = "(?:minutes|hours|days|weeks|months|years)"

_Step = tuple[str, str, str]  # a word, what begins with it and what it ends; "": nothing does


def _from(word: str, rest: str) -> str:
    """Return the pattern that begins with a word."""
    return rf"{re.escape(word)}(?<!\w{re.escape(word)}){rest}"


def _patterns() -> Iterator[_Step]:
    """Yield words to look for, with their patterns."""
    for word in (*_COUNTED, *_COMMENTS):
        colon = " ?[:：]?" if word in _BARE or not word.isascii() else " ?[:：]"
        begun = rf"(?:{colon} ?{_COUNT}[km]?(?!\w)| ?[(（]{_COUNT}[km]?[)）])"
        many = r"(?<![\w.,])\d(?:[\d,.]{0,19}\d)? ?"
        yield (
            word,
            _from(word, begun),
            many + r"(?:[km]|tsd\.?|mio\.?|тыс\.?|[万萬만条條次]|件の)? ?\Z",
        )
    for word in _COUNTS:
        counts = rf"{word}(?:[次回]?[数數]|量|수) ?[:：]? ?{_COUNT} ?[万萬億亿만]?(?![\da-z])"
        yield word, counts, ""
    yield from _of_authors()
    for word, verbs in _TIMES_DONE.items():
        then = rf"{_COUNT}[ -]?{word} (?:{verbs})(?!\w)"
        done = rf"(?<!\w)(?:{verbs}) {_COUNT}[km]?[ -]?\Z"
        yield word, then if word in ("mal", "keer") else "", done
    for word in _NO_COMMENTS:
        yield word, _from(word, r"(?!\w)"), ""
    for word in ("cited by", "liked by", "favorited by", "favourited by"):
        yield word, _from(word, rf":? {_COUNT}(?!\w)"), ""
    people = r"(?:person|people|users?|customers?|readers?)"
    helped = rf"(?<![\w.,])(?:{_COUNT} (?:out )?of )?(?:{_COUNT}|one) {people}\Z"
    yield " found this helpful", "", helped
    some = f"(?:{_COUNT}|one|no)"
    yield " online", "", rf"we have {some} guests? and {some} members?\Z"
    short = r"(?<![\w.,])\d{1,4} ?(?:s|m|min|h|hr|d|w|wk|mo|y|yr)s?\.?\Z"
    yield " ago", "", short
    labelled = rf"(?<![\w.,])\d{{1,5}} (?:[a-z]{{1,12}} ){{0,3}}\({_UNITS_AGO}\Z"
    yield " ago)", "", labelled  # "1427 Last active (days ago)"
    for word, units in _AFTER.items():
        is_bare = word in _WITHOUT_SPACES
        many = rf"(?<![\w.,]){_NUMBER} |(?<!\w){_UNSAID}"
        number = rf"(?<![\d.,]){_NUMBER} ?" if is_bare else many
        larger = rf"(?:(?:{number})(?:{units}){_BETWEEN if is_bare else _APART}){{0,2}}"
        before = rf"(?:{_ROUGHLY} )?{larger}(?:{number})(?:{units})(?: yang)? ?\Z"
        yield word if is_bare else f" {word}", "", before
    for words, units in _BEFORE.items():
        smaller = "" if r" \w" in units else rf"(?:{_APART}(?:{units})){{0,2}}"  # of any noun: none
        yield words, _from(words, rf"(?:{_ROUGHLY} ?)?(?:{units}){smaller}(?!\w)"), ""
    for word, units in _SINCE.items():
        long = rf"\d{{1,4}} (?:{units})"
        yield word, _from(word, rf":? {long}(?:{_APART}{long}){{1,3}}(?!\w)"), ""
    yield from _of_dates()
    yield from _of_programs()


def _of_dates() -> Iterator[_Step]:
    """Yield the same of dates in words."""
    for word in _DAYS:
        yield word, _from(word, _AT), ""
    for word in dict.fromkeys(WEEKDAYS):
        yield word, _from(word, _THE_DATE), ""
    for unit in _UNITS_IN_THAI:
        for ago in _AGO_IN_THAI:
            yield f"{unit}{ago}", "", rf"(?<![\w.,]){_NUMBER} ?\Z"
    day = r"\d(?<!\w\d)\d?(?:er|\.)?"
    for word in dict.fromkeys((*MONTHS, *_MORE_MONTHS)):
        named = rf"{re.escape(word)}\.?(?: de| พ\.ศ\.)?,?"
        yield word, rf"{day} (?:de )?{named} \d{{4}}(?!\d)", ""
    in_vietnamese = r" (?:hai|ba|tư|năm|sáu|bảy|nhật)(?=,? (?:ngày )?(?:#|\d{1,2}[/ .-]))"
    yield from ((word, _from(word, in_vietnamese), "") for word in ("thứ", "chủ"))
    yield "令和", r"令和(?:\d{1,2}|元)年 ?\d{1,2}月 ?\d{1,2}日", ""
    yield "tháng", rf"{day} tháng \d{{1,2}}(?:,| năm) \d{{4}}(?!\d)", ""
    yield "年", rf"\d{{4}}年 ?\d{{1,2}}月 ?\d{{1,2}}日{_WEEKDAY_AFTER}", ""
    yield "년", rf"\d{{4}}년 ?\d{{1,2}}월 ?\d{{1,2}}일{_WEEKDAY_AFTER}", ""


def _of_programs() -> Iterator[_Step]:
    """Yield the same of what programs say of the pages that they make."""
    for word in _MADE:
        yield word, _from(word, rf"(?: in | en | within |: ?| ){_LASTED}{_ASKED}"), ""
    for kind in ("execution", "generation", "rendering", "parse", "load"):
        yield f"{kind} time", _from(f"{kind} time", rf":? {_LASTED}"), ""
    for word in _IN_SOURCE:
        yield word, _from(word, r" \d{1,7}(?!\w)"), ""
    yield "visitor", _from("visitor", rf" (?:number|no\.|#):? ?{_COUNT}"), ""


def _of_authors() -> Iterator[_Step]:
    """Yield the same of what forums count of whoever writes there."""
    beside = rf"(?: (?:{_BESIDE_WRITTEN}) ?: ?[+-]?{_COUNT})*"
    for word in _WRITTEN:
        yield word, _from(word, rf" ?[:：] ?{_COUNT}{_NO_MONEY}{beside}"), ""
    for word in _OF_ALL:
        yield f"total {word}", _from(f"total {word}", rf" ?:? ?{_COUNT}(?!\w)"), ""
    points = rf" ?:? ?-?{_COUNT}(?: (?:trophy )?points ?:? ?{_COUNT})?(?!\w)"
    score = _from("reaction score", points)
    yield "reaction score", score, rf"(?<!\w)(?:messages|posts) ?:? ?{_COUNT} \Z"


def _by_sign() -> tuple[dict[bytes, list[_Step]], list[_Step]]:
    """Each step by the last word of what it looks for, and those in scripts without spaces."""
    by_sign: dict[bytes, list[_Step]] = {}
    others = []
    for step in _patterns():
        if _NO_SPACES.search(step[0]):
            others.append(step)
        else:
            by_sign.setdefault(_words(step[0])[-1], []).append(step)
    return by_sign, others


_COLUMNS: Final = frozenset(_COUNTED)
_AGES: Final = frozenset((
    "age", "idle", "updated", "modified", "last change", "last modified", "last updated",
    "last update", "last activity", "last seen", "last commit", "alter", "âge", "edad", "età",
))  # fmt: skip
_INITIALS: Final = "".join(sorted({name[0] for name in _COUNTED}))  # looked at first: few begin so
_HEAD: Final = re.compile(
    rf">\s{{0,99}}(?=[{_INITIALS}])(?:{'|'.join(map(re.escape, _COUNTED))})\s{{0,99}}:?\s{{0,99}}</"
)
_NUMERAL: Final = re.compile(r"\d[\d,.\s]{0,20}[km]?", re.IGNORECASE)
_ONE_COUNT: Final = re.compile(r"\D{0,40}" + _NUMERAL.pattern, re.IGNORECASE)
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_INSTANT: Final = re.compile(r"\d[-/.]\d{1,2}[-/.]\d|\d:\d\d")
_ANY_AGE: Final = re.compile(
    r">\s{0,99}\d{1,4} ?(?:s|m|min|h|hr|d|w|wk|mo|y|yr"
    r"|(?<= )(?:second|minute|hour|day|week|month|year)s?)\s{0,99}<"
)
_AGE_IN_COLUMN: Final = re.compile(  # years and months are those of people, too
    r"\d{1,4}(?:[.,]\d)? ?(?:s|m|h|d|sec|mins?|hrs?|seconds?|minutes?|hours?|days?|sekunden?"
    r"|minuten?|stunden?|tage?|secondes?|heures?|jours?|segundos?|minutos?|horas?|días?)\.?",
    re.IGNORECASE,
)
_SHORT_AGE: Final = re.compile(r"\d{1,4} ?(?:s|m|min|h|hr|d|w|wk|mo|y|yr)")
_LONG_AGE: Final = re.compile(r"\d{1,4} (?:second|minute|hour|day|week|month|year)s?")
# As sets of icons call it: fa-eye, bi-eye-fill, glyphicon-eye-open, icon_eye.
_EYE: Final = re.compile(r"[\s\"'_-]eye(?:[_-](?:fill|line|open|outline))?[\s\"']")
_MOST_FOUND: Final = 10_000  # of a word on a page
_MOST_HEADS: Final = 200
_MOST_TABLES: Final = 20
_MOST_CELLS: Final = 2_000
_MOST_COLUMNS: Final = 30
_MOST_BLOCKS: Final = 5_000
_MOST_LEVELS: Final = 4
_compiled = cache(re.compile)  # all of them would take as long as reading thirty pages
_CLOCK: Final = r":\d{2}(?::\d{2})?(?![\da-z:])"
_DATE_IN_WORDS: Final = re.compile(  # of scripts without spaces
    r"[0-9](?<![\da-z_.:-].)(?:"
    r"\d{3}(?:([-/])\d{1,2}\1\d{1,2}|\.\d\d\.\d\d|\. \d{1,2}\. \d{1,2}\.)(?![\da-z_.-])"
    rf"(?: ?\d{{1,2}}{_CLOCK})?|\d?{_CLOCK})"
)
_NO_SPACES: Final = re.compile("[\u3040-\u9fff\uac00-\ud7af]")
_SPACED: Final = bytes(
    byte if byte >= 128 or chr(byte).isalnum() else ord(" ") for byte in range(256)
)


def _words(text: str) -> list[bytes]:
    return text.encode("utf-8", "replace").translate(_SPACED).split()


_STEPS, _OTHER_STEPS = _by_sign()
_SIGNS: Final = frozenset(_STEPS)


def without_passing(stable: str) -> str:
    """Blot out ages, dates and counters; O(length) for each word that the text has.

    Parameters
    ----------
    stable : in lower case, a space between words
    """
    signs = sorted(_SIGNS.intersection(_words(stable)))
    steps = [step for sign in signs for step in _STEPS[sign]]
    if may_run_on(stable) and _NO_SPACES.search(stable):
        steps += _OTHER_STEPS
        stable = _DATE_IN_WORDS.sub("#", stable)
    for word, begun, ended in steps:
        if word not in stable:
            continue
        if ended:
            stable = _without_ended(stable, word, _compiled(ended))
        if begun:
            stable = _compiled(begun).sub("#", stable)
        stable = stable.replace(f"# {word.strip()}", "#")
    if not stable.isascii() and _MANY_LIKES.search(
        stable
    ):  # not the stars of a guide, five at most
        stable = _LIKES.sub("#", stable)
    return stable


def _without_ended(stable: str, word: str, ended: re.Pattern[str]) -> str:
    """Blot out what a word ends; the word, which is looked for, stays."""
    gap = len(word) - len(word.lstrip())
    kept, done, start = [], 0, stable.find(word)
    left = _MOST_FOUND
    while start >= 0 and left:
        end, left = start + len(word), left - 1
        if word in _WITHOUT_SPACES or not stable[end : end + 1].isalnum():
            found = ended.search(stable, max(done, start - _REACH), start)
            if found is not None:
                kept.append(stable[done : found.start()])
                done = start + gap
        start = stable.find(word, end)
    return "# ".join([*kept, stable[done:]])


@contextmanager
def named_passing(html: str, tree: LexborHTMLParser) -> Iterator[bool]:
    """Write behind what changes by itself what it is, for a while, where only its place says so.

    What a number below or behind a head such as "Views", beside the picture of an eye or in what a
    forum says of whoever wrote a post counts, and that "5m" or "5 minutes" beside its instant is
    an age.

    Parameters
    ----------
    html, tree : of a page; the tree is changed, and then as before

    Yields
    ------
    bool
        Whether there was something.
    """
    is_named = _HEAD.search(lower(html)) is not None
    found = list(_counters(tree, any_cell=is_named)) if is_named or "<th" in html else []
    if is_named:
        found += [*_counters_by_names(tree), *_counters_in_rows(tree)]
    if _ANY_AGE.search(html):
        found += [(node, "ago") for node in _ages(tree)]
    if "eye" in html and _EYE.search(html):
        found += [(node, "views") for node in _beside_eyes(tree)]
    found += [(node, "views") for node in _beside_authors(html, tree)]
    before: dict[int, tuple[LexborNode, str]] = {}
    for node, word in found:
        text = _only_text_in(node)
        if text is not None and node.mem_id not in before:
            before[node.mem_id] = node, text.text()
            text.replace_with(f"{text.text().strip()} {word}")
    yield bool(before)
    for node, said in before.values():
        text = _only_text_in(node)
        if text is not None:
            text.replace_with(said)


def _ages(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """The elements that say an age, and since when by an attribute: ``5m``, ``2 hours``."""
    within: set[int] = set()
    for node in tree.css("time[datetime], [title]")[:_MOST_CELLS]:
        since = f"{node.attributes.get('datetime')} {node.attributes.get('title')}"
        is_instant = _INSTANT.search(since) is not None
        text = _only_text_in(node) if is_instant or _YEAR.search(since) else None
        if text is None or text.mem_id in within:
            continue
        said = text.text().strip()
        if _SHORT_AGE.fullmatch(said) or (is_instant and _LONG_AGE.fullmatch(said)):
            within.add(text.mem_id)
            yield node


def _beside_eyes(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """The nodes of numbers right behind the picture of an eye, or alone with it: views."""
    for icon in tree.css('[class*="eye"]')[:_MOST_CELLS]:
        if _EYE.search(f'"{icon.attributes.get("class")}"') is None or icon.text().strip():
            continue
        behind = icon.next
        if behind is not None and behind.is_text_node and not behind.text().strip():
            behind = behind.next
        for node in (behind, icon.parent):
            text = None if node is None else _only_text_in(node)
            if node is not None and text is not None and _NUMERAL.fullmatch(text.text().strip()):
                yield node
                break


def _beside_authors(html: str, tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """The texts that end in the only number they have, beside what somebody wrote in a forum."""
    for name in _AUTHORS:
        for box in tree.css(f'[class*="{name}"]')[:_MOST_CELLS] if name in html else ():
            for text in islice(box.traverse(include_text=True), _MOST_COLUMNS * _MOST_LEVELS):
                if text.is_text_node and _ONE_COUNT.fullmatch(text.text().strip()):
                    yield text


def _counters(tree: LexborHTMLParser, *, any_cell: bool) -> Iterator[tuple[LexborNode, str]]:
    """The cells of numbers whose column has a counter's name for its head, and that name.

    Below a head such as "Age" those of lengths of time, and what makes ages of them.
    """
    columns: dict[int, dict[int, str]] = {}  # what each of a table's columns counts
    tables: dict[int, LexborNode] = {}
    for head, word in _heads(tree, any_cell=any_cell):
        table: LexborNode | None = head
        while table is not None and table.tag != "table":
            table = table.parent
        if table is not None and len(tables) < _MOST_TABLES:
            tables[table.mem_id] = table
            columns.setdefault(table.mem_id, {})[_column_of(head)] = word
    for mark, table in tables.items():
        for cell in table.css("td")[:_MOST_CELLS]:
            said = cell.text().strip()
            is_age = _AGE_IN_COLUMN.fullmatch(said) is not None
            if is_age or _NUMERAL.fullmatch(said):
                word = columns[mark].get(_column_of(cell), "")
                if word and is_age == (word == "ago"):
                    yield cell, word


def _heads(tree: LexborHTMLParser, *, any_cell: bool) -> Iterator[tuple[LexborNode, str]]:
    """The cells that name a counter, and that name; where a cell is said to be a head, of ages too.

    Any cell may be the head of a column: below a name that is a value no numbers stand.
    """
    heads = tree.css("td, th")[:_MOST_CELLS] if any_cell else tree.css("th, thead td")[:_MOST_HEADS]
    for cell in heads:
        word = " ".join(cell.text().lower().split())
        if word in _COLUMNS:
            yield cell, word
        elif word in _AGES and (cell.tag == "th" or _is_in_head(cell)):
            yield cell, "ago"


def _is_in_head(cell: LexborNode) -> bool:
    row = cell.parent
    return row is not None and row.parent is not None and row.parent.tag == "thead"


def _counters_by_names(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, str]]:
    """The same where the number stands behind its name, as in a list of what a thing has."""
    for head in tree.css("dt, th")[:_MOST_HEADS]:
        word = " ".join(head.text().lower().split()).rstrip(" :")
        cell = head.next
        while cell is not None and not cell.is_element_node:
            cell = cell.next
        is_behind = word in _COLUMNS and cell is not None and cell.tag in ("dd", "td")
        if is_behind and cell is not None and _NUMERAL.fullmatch(cell.text().strip()):
            yield cell, word


def _counters_in_rows(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, str]]:
    """The same where rows are no table's but elements side by side, as many in each."""
    heads = 0
    rows: dict[int, list[LexborNode]] = {}  # by the part of the page that they are looked for in
    for head in tree.css("div, span, dd, li, p")[:_MOST_BLOCKS]:
        word = " ".join(head.text(deep=False).lower().split())
        row = head.parent
        if word not in _COLUMNS or row is None or heads >= _MOST_TABLES:
            continue
        heads += 1
        cells = _elements_in(row)
        place = next((n for n, one in enumerate(cells) if one.mem_id == head.mem_id), 0)
        if 1 < len(cells) <= _MOST_COLUMNS:
            yield from ((cell, word) for cell in _numbers_below(row, len(cells), place, rows))


def _numbers_below(
    row: LexborNode, width: int, place: int, rows: dict[int, list[LexborNode]]
) -> list[LexborNode]:
    """The numbers at a place of rows like this one, in the smallest part of a page with any."""
    kind = (row.attributes.get("class") or "").split()[:1]
    part = row.parent
    for _ in range(_MOST_LEVELS):
        if part is None or sum(map(len, rows.values())) > _MOST_BLOCKS:
            break
        if part.mem_id not in rows:
            rows[part.mem_id] = part.css("div, ul, dl, li")
        found = []
        for other in rows[part.mem_id][:_MOST_CELLS]:
            if (other.attributes.get("class") or "").split()[:1] == kind:
                cells = _elements_in(other)
                if len(cells) == width:
                    found.append(_innermost(cells[place]))
        numbers = [one for one in found if _NUMERAL.fullmatch(one.text(deep=False).strip())]
        if numbers:
            return numbers
        part = part.parent
    return []


def _elements_in(node: LexborNode) -> list[LexborNode]:
    """The elements right below another: all, or one more than a row has columns at most."""
    found: list[LexborNode] = []
    child, left = node.child, 4 * _MOST_COLUMNS
    while child is not None and left and len(found) <= _MOST_COLUMNS:
        if child.is_element_node:
            found.append(child)
        child, left = child.next, left - 1
    return found


def _innermost(node: LexborNode) -> LexborNode:
    """Return the only element within the only element within a node, some levels down."""
    for _ in range(_MOST_LEVELS):
        within = _elements_in(node)
        if len(within) != 1:
            break
        node = within[0]
    return node


def _only_text_in(element: LexborNode) -> LexborNode | None:
    """Return the text in an element, if it stands in one piece."""
    texts = [node for node in element.traverse(include_text=True) if node.is_text_node]
    said = [node for node in texts if node.text().strip()]
    return said[0] if len(said) == 1 else None


def _column_of(cell: LexborNode) -> int:
    """Return how many columns are before a cell of its row."""
    column, before = 0, cell.prev
    while before is not None and column < _MOST_COLUMNS:
        if before.tag in ("td", "th"):
            told = before.attributes.get("colspan") or "1"
            column += int(told) if told.isdecimal() and len(told) < 3 else 1
        before = before.prev
    return column
