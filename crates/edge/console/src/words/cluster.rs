//! The processes.

pub(super) const WORDS: super::Words = &[
    ("This process", "Этот процесс"),
    ("Version", "Версия"),
    ("Uptime", "Время работы"),
    ("Roles", "Роли"),
    ("Store", "Хранилище"),
    ("Process", "Процесс"),
    ("Last seen", "Последний сигнал"),
    ("Shards", "Шарды"),
    ("Stages that do not answer", "Стадии, которые не отвечают"),
    ("Processes that serve offers", "Процессы, обслуживающие объявления"),
    (
        "No process serves offers: start one with the role stages.",
        "Ни один процесс не обслуживает объявления: запустите процесс с ролью stages.",
    ),
    ("Unserved shards: {0}. Their offers wait.", "Шардов без процесса: {0}. Их объявления ждут."),
    ("All {0} shards", "Все шарды: {0}"),
    ("this one", "этот"),
    ("Shard", "Шард"),
    ("Served by", "Обслуживает"),
    ("Lease until", "Аренда до"),
    ("Exported to", "Экспортировано до"),
    (
        "The store does not answer: this is the last known state.",
        "Хранилище не отвечает: ниже то, что было известно последним.",
    ),
    (
        "It is not known yet which process serves offers: that is read from the store seconds after the start.",
        "Кто обслуживает объявления, пока неизвестно: это читается из хранилища через несколько секунд после запуска.",
    ),
    ("Shards of offers", "Шарды объявлений"),
    ("Processes that serve feeds", "Процессы, занятые фидами"),
    (
        "No process serves feeds: start one with the roles loader and processor.",
        "Фидами не занят ни один процесс: запустите процесс с ролями loader и processor.",
    ),
    ("The process that plans tasks", "Процесс, управляющий задачами"),
    (
        "No process plans tasks: start one with the role tasks.",
        "Задачами не управляет ни один процесс: запустите процесс с ролью tasks.",
    ),
    ("{0} of {1}", "{0} из {1}"),
    (
        "Unserved shards: {0} of {1}. Their work waits.",
        "Шардов без процесса: {0} из {1}. Всё, что в них, ждёт.",
    ),
];
