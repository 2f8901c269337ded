//! The processes.

pub(super) const WORDS: super::Words = &[
    ("This process", "Этот процесс"),
    ("Version", "Версия"),
    ("Runs for", "Время работы"),
    ("Roles", "Роли"),
    ("Store", "Хранилище"),
    ("Process", "Процесс"),
    ("Heard of", "Последний сигнал"),
    ("Shards", "Шарды"),
    ("Stages that do not answer", "Стадии, которые не отвечают"),
    ("Processes that serve offers", "Процессы, обслуживающие объявления"),
    (
        "No process serves offers: start one with the role scheduler.",
        "Ни один процесс не обслуживает объявления: запустите процесс с ролью scheduler.",
    ),
    ("Shards that nobody serves: {0}. Their offers wait.", "Шардов без процесса: {0}. Их объявления ждут."),
    ("All {0} shards", "Все шарды: {0}"),
    ("this one", "этот"),
    ("Shard", "Шард"),
    ("Served by", "Обслуживает"),
    ("Lease until", "Аренда до"),
    ("Exported to", "Экспортировано до"),
    (
        "The store does not answer: what follows is as it was known last.",
        "Хранилище не отвечает: ниже то, что было известно последним.",
    ),
    (
        "Who serves offers is not known yet: it is read from the store seconds after the start.",
        "Кто обслуживает объявления, пока неизвестно: это читается из хранилища через несколько секунд после запуска.",
    ),
    ("Shards of offers", "Шарды объявлений"),
    ("Processes that see to feeds", "Процессы, занятые фидами"),
    (
        "No process sees to feeds: start one with the roles loader and processor.",
        "Фидами не занят ни один процесс: запустите процесс с ролями loader и processor.",
    ),
    ("The process that decides about tasks", "Процесс, управляющий задачами"),
    (
        "No process decides about tasks: start one with the role reactive.",
        "Задачами не управляет ни один процесс: запустите процесс с ролью reactive.",
    ),
    ("{0} of {1}", "{0} из {1}"),
    (
        "Shards that nobody serves: {0} of {1}. What is in them waits.",
        "Шардов без процесса: {0} из {1}. Всё, что в них, ждёт.",
    ),
];
