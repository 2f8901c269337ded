//! The table of problems.

use super::{Area, Row, Texts};
use crate::Severity;

macro_rules! codes {
    ($($code:ident $name:literal $area:ident $severity:ident
        $meaning:literal $remedy:literal $meaning_ru:literal $remedy_ru:literal)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $code,)*
        }

        pub(super) const ROWS: &[Row] = &[$(Row {
            code: Code::$code,
            name: $name,
            area: Area::$area,
            severity: Severity::$severity,
            english: Texts { meaning: $meaning, remedy: $remedy },
            russian: Texts { meaning: $meaning_ru, remedy: $remedy_ru },
        },)*];
    };
}

codes! {
    UnknownFormat "unknown_format" File Error
        "The file is not in a format that Torg reads."
        "Send YML, Avito or Google Merchant XML, a table (TSV, CSV), or Torg's own XML or JSON; check that the link leads to the file and not to a web page."
        "Формат файла не распознан."
        "Пришлите YML, XML для Авито или Google Merchant, таблицу (TSV, CSV) либо XML или JSON в формате Torg; проверьте, что ссылка ведёт на файл, а не на страницу сайта."
    BrokenFile "broken_file" File Error
        "The file ends too early or cannot be read any further."
        "Upload the whole file again; if a program makes it, correct the place that the message names."
        "Файл обрывается или не читается дальше этого места."
        "Загрузите файл целиком ещё раз; если его создаёт программа, исправьте указанное место."
    EmptyFile "empty_file" File Error
        "The file is empty."
        "Check the export: the file must hold at least one offer."
        "Файл пуст."
        "Проверьте выгрузку: в файле должно быть хотя бы одно объявление."
    TooLarge "too_large" File Error
        "The file is larger than a feed may be."
        "Split it into several feeds of at most 1 GB unpacked and 2 million offers each."
        "Файл больше допустимого."
        "Разделите его на несколько фидов: до 1 ГБ без сжатия и до 2 миллионов объявлений каждый."
    PackedTooTight "packed_too_tight" File Error
        "The archive unpacks to more than a hundred times its size."
        "Send the file unpacked, or compressed with usual settings."
        "Архив при распаковке увеличивается более чем в сто раз."
        "Пришлите файл без сжатия или сожмите его с обычными настройками."
    BrokenArchive "broken_archive" File Error
        "The archive is damaged, or its compression is not supported."
        "Pack the file again with gzip or an ordinary zip, without a password."
        "Архив повреждён или сжат неподдерживаемым способом."
        "Сожмите файл заново: gzip или обычный zip без пароля."
    BadEncoding "bad_encoding" File Error
        "The encoding of the text is unknown, or the text mixes several."
        "Save the file in UTF-8."
        "Кодировка текста неизвестна, или в файле их несколько."
        "Сохраните файл в UTF-8."
    ForbiddenDoctype "forbidden_doctype" File Error
        "The document type contains declarations (in square brackets)."
        "Remove the part in square brackets after <!DOCTYPE; entities other than the five of XML are not read."
        "Объявление типа документа содержит собственные определения (в квадратных скобках)."
        "Удалите часть в квадратных скобках после <!DOCTYPE; сущности, кроме пяти стандартных, не читаются."
    TooDeep "too_deep" File Error
        "Elements are nested too deeply."
        "Check that every element is closed; no format needs more than 64 levels."
        "Слишком большая вложенность элементов."
        "Проверьте, что все элементы закрыты; больше 64 уровней не требует ни один формат."
    ReadFailed "read_failed" File Error
        "The file could not be read to its end."
        "Try again; if it happens again, contact support."
        "Файл не удалось прочитать до конца."
        "Попробуйте ещё раз; если ошибка повторится, обратитесь в поддержку."
    WrongEncodingName "wrong_encoding_name" Markup Warning
        "The file names another encoding than the one it is written in."
        "Put the right name into the first line: <?xml version=\"1.0\" encoding=\"UTF-8\"?>."
        "В файле указана не та кодировка, в которой он записан."
        "Укажите верную кодировку в первой строке: <?xml version=\"1.0\" encoding=\"UTF-8\"?>."
    DamagedCharacter "damaged_character" Markup Warning
        "A character is damaged: often a text was cut in the middle of a character."
        "Cut texts by characters, not by bytes, and save the file in one encoding."
        "Символ повреждён: часто текст обрезан посередине символа."
        "Обрезайте тексты по символам, а не по байтам, и сохраняйте файл в одной кодировке."
    ControlCharacter "control_character" Markup Warning
        "The text has a control character that is not allowed; it is read as a space."
        "Remove control characters from the text."
        "В тексте есть недопустимый управляющий символ; он прочитан как пробел."
        "Удалите управляющие символы из текста."
    SpaceBeforeDeclaration "space_before_declaration" Markup Warning
        "There is text before the XML declaration."
        "Begin the file with <?xml; often a script prints an empty line first."
        "Перед объявлением XML есть лишние символы."
        "Файл должен начинаться с <?xml; часто скрипт сначала печатает пустую строку."
    BareAmpersand "bare_ampersand" Markup Warning
        "The text has an unescaped &; it is read as &."
        "Write &amp; instead of &."
        "В тексте есть неэкранированный знак &; он прочитан как есть."
        "Пишите &amp; вместо &."
    HtmlEntity "html_entity" Markup Warning
        "The text has an HTML entity such as &nbsp; that XML does not define; it is read as in HTML."
        "Write the character itself, or put the text into <![CDATA[...]]>."
        "В XML стоит имя символа из HTML, например &nbsp;, которого в XML нет; оно прочитано как в HTML."
        "Пишите сам символ или поместите текст в <![CDATA[...]]>."
    BareLess "bare_less" Markup Warning
        "A text or an attribute has an unescaped <; it is read as <."
        "Write &lt; instead of <, or put the text into <![CDATA[...]]>."
        "В тексте или атрибуте есть неэкранированный знак <; он прочитан как есть."
        "Пишите &lt; вместо < или поместите текст в <![CDATA[...]]>."
    UnclosedTag "unclosed_tag" Markup Warning
        "An element is not closed, or closed without having been opened; its end is guessed."
        "Close every element, and put HTML into <![CDATA[...]]>."
        "Элемент не закрыт или закрыт лишний раз; его конец угадан."
        "Закрывайте каждый элемент, а HTML помещайте в <![CDATA[...]]>."
    BrokenOffer "broken_offer" Markup Error
        "The markup of the offer is broken, so it cannot be read."
        "Correct the place that the message names: a missing quote, bracket or end tag."
        "Разметка объявления нарушена, его нельзя прочитать."
        "Исправьте указанное место: не хватает кавычки, скобки или конца элемента."
    OfferTooLarge "offer_too_large" Markup Error
        "One offer takes more than 1 MB, or has too many parts."
        "Shorten its texts; send pictures as links, not as data."
        "Одно объявление занимает больше 1 МБ или состоит из слишком многих частей."
        "Сократите тексты; картинки передавайте ссылками, а не данными."
    WrongStructure "wrong_structure" Markup Error
        "The offer does not follow the schema of the format."
        "Follow the schema torg-offers-1.xsd at the place that the message names."
        "Объявление не соответствует схеме формата."
        "Исправьте указанное место по схеме torg-offers-1.xsd."
    WrongHeader "wrong_header" Markup Warning
        "The header of the file, or a part outside of the offers, does not follow the format."
        "Correct the place that the message names; the offers are still read."
        "Заголовок файла или часть вне объявлений не соответствует формату."
        "Исправьте указанное место; объявления при этом читаются."
    LateCategories "late_categories" Markup Warning
        "Categories or currencies come after the offers that use them."
        "Put currencies and categories before the offers."
        "Категории или валюты указаны после объявлений."
        "Поместите валюты и категории перед объявлениями."
    ExtraContent "extra_content" Markup Warning
        "There is content after the end that is not read: other text, or more files in the archive."
        "Send one file with one root element."
        "После конца есть ещё что-то, что не читается: текст или другие файлы архива."
        "Присылайте один файл с одним корневым элементом."
    WrongColumns "wrong_columns" Markup Warning
        "A row of the table has more or fewer cells than its header."
        "Put cells with tabs, line ends or quotes into quotes, and double the quotes inside."
        "В строке таблицы больше или меньше ячеек, чем в заголовке."
        "Заключайте в кавычки ячейки с табуляцией, переводами строк и кавычками, а кавычки внутри удваивайте."
    MissingField "missing_field" Validation Error
        "A required field is missing or empty."
        "Fill the field that the message names."
        "Нет обязательного поля, или оно пустое."
        "Заполните поле, названное в сообщении."
    MissingPrice "missing_price" Validation Warning
        "There is no price; the offer is shown as negotiable, where its category allows that."
        "Give a price, or say that it is free or negotiable if the format allows it."
        "Цены нет; объявление показывается с договорной ценой, если категория это позволяет."
        "Укажите цену или, если формат позволяет, что товар отдаётся даром или цена договорная."
    DuplicateId "duplicate_id" Validation Error
        "An earlier offer of the file has the same id; the first one counts."
        "Give every offer an id of its own, and keep it from load to load."
        "Такой же идентификатор уже был в файле; учитывается первое объявление."
        "Дайте каждому объявлению свой идентификатор и не меняйте его от загрузки к загрузке."
    BadId "bad_id" Validation Error
        "The id is too long or has characters that are not allowed."
        "Use at most 100 letters, digits and signs, in one line."
        "Идентификатор слишком длинный или содержит недопустимые символы."
        "Используйте до 100 букв, цифр и знаков в одной строке."
    BadPrice "bad_price" Validation Error
        "The price is not a number, or out of range."
        "Write a number such as 1999.90, without words."
        "Цена не является числом или недопустима."
        "Пишите число, например 1999.90, без слов."
    BadOldPrice "bad_old_price" Validation Warning
        "The old price is not a number or not above the price; it is left out."
        "Give an old price above the price, or none."
        "Старая цена не является числом или не выше цены; она пропущена."
        "Укажите старую цену выше текущей или не указывайте."
    BadCurrency "bad_currency" Validation Error
        "The currency is not one of ISO 4217."
        "Use three letters: RUB, EUR, USD."
        "Валюта не из ISO 4217."
        "Используйте три буквы: RUB, EUR, USD."
    MissingCurrency "missing_currency" Validation Warning
        "The price has no currency; the seller's currency is used."
        "Write the currency with the price: 15.00 EUR."
        "У цены нет валюты; берётся валюта продавца."
        "Указывайте валюту вместе с ценой: 15.00 EUR."
    BadUrl "bad_url" Validation Warning
        "A link is invalid; it is left out."
        "Write full addresses that begin with https:// or http://."
        "Ссылка неверна; она пропущена."
        "Пишите полный адрес, начинающийся с https:// или http://."
    UrlWithoutScheme "url_without_scheme" Validation Warning
        "A link has no scheme; http:// is added."
        "Write full addresses that begin with https:// or http://."
        "У ссылки нет начала; добавлено http://."
        "Пишите полный адрес, начинающийся с https:// или http://."
    TooLong "too_long" Validation Warning
        "A text is too long; it is cut."
        "Shorten it to the length that the message names."
        "Текст слишком длинный; он обрезан."
        "Сократите его до длины, названной в сообщении."
    TooMany "too_many" Validation Warning
        "There are too many values of one kind; the rest is left out."
        "Keep the most important ones."
        "Слишком много значений одного вида; остальные пропущены."
        "Оставьте самые важные."
    BadValue "bad_value" Validation Warning
        "A value is not allowed in this field; it is left out."
        "Use one of the values that the message names."
        "Недопустимое значение поля; оно пропущено."
        "Используйте одно из значений, названных в сообщении."
    BadNumber "bad_number" Validation Warning
        "A number is expected; the value is left out."
        "Write digits with a point: 12.5."
        "Ожидается число; значение пропущено."
        "Пишите цифры с точкой: 12.5."
    BadPhone "bad_phone" Validation Warning
        "A phone number has too few or too many digits; it is left out."
        "Write it with the country code: +49 30 123456."
        "В номере телефона слишком мало или слишком много цифр; он пропущен."
        "Пишите номер с кодом страны: +7 495 123-45-67."
    BadEmail "bad_email" Validation Warning
        "An e-mail address is invalid; it is left out."
        "Write it as name@example.com."
        "Адрес электронной почты неверен; он пропущен."
        "Пишите его в виде name@example.com."
    RepeatedField "repeated_field" Validation Warning
        "A field that may occur once is repeated; the first one counts."
        "Remove the second one."
        "Поле, которое бывает одно, повторяется; учитывается первое."
        "Удалите повтор."
    UnknownField "unknown_field" Validation Warning
        "The format has no such field; it is not read."
        "Correct its name, or remove it."
        "В формате нет такого поля; оно не читается."
        "Исправьте имя поля или удалите его."
    MissingCategory "missing_category" Catalogue Error
        "The offer has no category, and none can be recognised from its title."
        "Give it a category."
        "Категория не указана, и по названию её не определить."
        "Укажите категорию."
    UnknownCategory "unknown_category" Catalogue Error
        "The category is unknown."
        "Use a name from the catalogue, or ask support to map yours."
        "Категория неизвестна."
        "Используйте название из каталога или попросите поддержку сопоставить вашу категорию."
    AmbiguousCategory "ambiguous_category" Catalogue Warning
        "Several categories fit; the best one is used."
        "Name the category more precisely, with its parent categories."
        "Подходит несколько категорий; взята лучшая."
        "Уточните категорию вместе с родительскими."
    UnknownCategoryId "unknown_category_id" Catalogue Warning
        "The offer names a category that the file does not have."
        "Add the category to <categories>, or correct the id."
        "Объявление ссылается на категорию, которой нет в файле."
        "Добавьте категорию в <categories> или исправьте идентификатор."
    UnknownAttribute "unknown_attribute" Catalogue Warning
        "The category has no such attribute; it is left out."
        "Use the catalogue's names of attributes."
        "В категории нет такой характеристики; она пропущена."
        "Используйте названия характеристик из каталога."
    MissingAttribute "missing_attribute" Catalogue Error
        "An attribute that the category requires is missing."
        "Add the attribute that the message names."
        "Нет обязательной для категории характеристики."
        "Добавьте характеристику, названную в сообщении."
    BadAttributeValue "bad_attribute_value" Catalogue Error
        "The value of an attribute is not allowed."
        "Use a value, unit or range that the message names."
        "Недопустимое значение характеристики."
        "Используйте значение, единицу или диапазон из сообщения."
    UnknownUnit "unknown_unit" Catalogue Warning
        "The unit of an attribute is unknown; the value is read without it."
        "Use a usual unit: cm, kg, l."
        "Единица измерения неизвестна; значение прочитано без неё."
        "Используйте обычные единицы: см, кг, л."
    ConflictingAttributes "conflicting_attributes" Catalogue Error
        "Two attributes contradict each other."
        "Correct one of them."
        "Две характеристики противоречат друг другу."
        "Исправьте одну из них."
    MissingPlace "missing_place" Place Error
        "The offer has no place."
        "Give an address with a city, or coordinates, or set an address for the whole feed."
        "Не указано, где находится товар."
        "Укажите адрес с городом или координаты либо задайте адрес для всего фида."
    UnknownPlace "unknown_place" Place Error
        "The address could not be found."
        "Write country, city and street, without abbreviations of your own."
        "Адрес не найден."
        "Напишите страну, город и улицу без собственных сокращений."
    AmbiguousPlace "ambiguous_place" Place Warning
        "Several places have this name; the most likely one is used."
        "Add the region or the country."
        "Есть несколько мест с таким названием; взято самое вероятное."
        "Добавьте регион или страну."
    BadCoordinates "bad_coordinates" Place Warning
        "The coordinates are invalid; they are left out."
        "Write latitude (-90 to 90) and longitude (-180 to 180) as decimal degrees."
        "Координаты неверны; они пропущены."
        "Укажите широту (от -90 до 90) и долготу (от -180 до 180) в десятичных градусах."
    PlaceMismatch "place_mismatch" Place Warning
        "The address and the coordinates are far apart; the coordinates count."
        "Correct one of them."
        "Адрес и координаты далеко друг от друга; учитываются координаты."
        "Исправьте одно из них."
    PlaceLater "place_later" Place Warning
        "The place could not be looked up just now; the offer stays as it was."
        "Nothing: the next load tries again."
        "Сейчас не удалось определить место; объявление оставлено как было."
        "Ничего не нужно: при следующей загрузке попытка повторится."
    PhotoNotFetched "photo_not_fetched" Media Warning
        "A photo could not be downloaded."
        "Check that the link opens without a password."
        "Фотографию не удалось скачать."
        "Проверьте, что ссылка открывается без пароля."
    PhotoNotPicture "photo_not_picture" Media Warning
        "A link to a photo leads to something else."
        "Link to a JPEG, PNG, WebP or GIF file itself."
        "Ссылка на фото ведёт не на изображение."
        "Указывайте ссылку на сам файл JPEG, PNG, WebP или GIF."
    PhotoTooLarge "photo_too_large" Media Warning
        "A photo is too large."
        "Make it smaller."
        "Фотография слишком большая."
        "Уменьшите её."
    PhotoTooSmall "photo_too_small" Media Warning
        "A photo is too small to be shown."
        "Send a larger one."
        "Фотография слишком маленькая."
        "Пришлите большего размера."
    VideoUnavailable "video_unavailable" Media Warning
        "The video is not available."
        "Make it public, or correct its link."
        "Видео недоступно."
        "Откройте доступ к видео или исправьте ссылку."
    Banned "banned" Rules Error
        "Moderation has banned the offer; loading it again does not bring it back."
        "Read the reason of the ban, correct the offer, and ask for a review."
        "Объявление заблокировано модерацией; повторная загрузка его не вернёт."
        "Прочитайте причину блокировки, исправьте объявление и запросите проверку."
    SellerBlocked "seller_blocked" Rules Error
        "The seller is currently not allowed to publish."
        "Contact support."
        "Продавцу сейчас нельзя публиковать объявления."
        "Обратитесь в поддержку."
    ForbiddenContent "forbidden_content" Rules Error
        "The offer is for something, or says something, that the rules forbid."
        "Remove it, or read the rules of its category."
        "Товар или текст запрещён правилами."
        "Уберите его или прочитайте правила категории."
    OtherNamespace "other_namespace" Rules Error
        "Another feed of the seller already has this offer."
        "Keep every offer in one feed only."
        "Это объявление уже есть в другом фиде продавца."
        "Держите каждое объявление только в одном фиде."
    MassRemoval "mass_removal" Rules Warning
        "The load would remove an unusual share of the offers; it waits for confirmation."
        "Check the file; if it is right, confirm the load."
        "Загрузка удалила бы необычно много объявлений; она ждёт подтверждения."
        "Проверьте файл; если всё верно, подтвердите загрузку."
    TryLater "try_later" Rules Warning
        "The offer could not be processed for a temporary reason; it stays as it was."
        "Nothing: the next load tries again."
        "Объявление не обработано по временной причине и оставлено как было."
        "Ничего не нужно: при следующей загрузке попытка повторится."
}
