//! The processes.

pub(super) const WORDS: super::Words = &[
    ("This process", "Этот процесс"),
    ("Version", "Версия"),
    ("Runs for", "Работает"),
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
];
