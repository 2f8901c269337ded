//! Values.

pub(super) const WORDS: super::Words = &[
    (
        "“{0}” is not a value: expected a time such as 2026-03-25T08:05:00Z, the word now, or a whole number.",
        "«{0}» — недопустимое значение: нужно время, например 2026-03-25T08:05:00Z, слово now или целое число.",
    ),
    ("After", "Стало"),
    ("All values", "Все значения"),
    ("Before", "Было"),
    ("Delete the value", "Удалить значение"),
    ("Delete the value of {0}?", "Удалить значение {0}?"),
    ("Count as a change even if the value is the same", "Считать изменением, даже если значение уже такое"),
    (
        "Allow a value below the current one: tasks that saw a higher value do not fire until it is exceeded",
        "Можно сделать меньше текущего: задачи, видевшие большее, не сработают, пока оно снова не будет превышено",
    ),
    ("No changes, or they are too old to be kept.", "Оно не менялось или менялось давно."),
    ("Name, such as sales.loaded_to", "Имя, например sales.loaded_to"),
    ("No task reads it or sets it.", "Ни одна задача его не читает и не устанавливает."),
    ("No value has a name with this prefix.", "Нет значений, имя которых начинается так."),
    (
        "None of the tasks checked reads or sets it; not all were checked.",
        "Ни одна из просмотренных задач его не читает и не устанавливает; просмотрены не все.",
    ),
    ("Read by", "Читают"),
    ("Set", "Установить"),
    ("Set a value", "Установить значение"),
    ("Set by", "Устанавливают"),
    ("Related tasks", "Задачи, связанные с ним"),
    (
        "Tasks that read it do not fire by it until it is set again. Its history stays.",
        "Задачи, которые его читают, не сработают по нему, пока его снова не установят. История сохранится.",
    ),
    (
        "No values yet: programs that load data set them, or torg ctl set NAME=VALUE.",
        "Значений ещё нет: их устанавливают программы, загружающие данные, или команда torg ctl set NAME=VALUE.",
    ),
    (
        "How far data is loaded, how many rows there are: tasks wait for these values and move them.",
        "До какого момента есть данные, сколько в них строк: этих значений ждут задачи, и сами их сдвигают.",
    ),
    ("Value {0}", "Значение {0}"),
    (
        "Value: a time such as 2026-03-25T08:05:00Z, the word now, or a whole number",
        "Значение: время, например 2026-03-25T08:05:00Z, слово now или целое число",
    ),
    ("deleted", "удалено"),
    ("it has no value", "значения нет"),
    ("moved back", "откат"),
    ("none of the tasks", "ни одна из задач"),
    ("{0} has no value: nothing changed.", "У {0} и так нет значения."),
    ("{0} is {1} already: nothing changed.", "{0} уже {1}: ничего не изменилось."),
    ("{0}: {1} → {2}", "{0}: {1} → {2}"),
];
