from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

CONDITION_FOR_PARTS: Condition
CONDITION_LIKE_NEW: Condition
CONDITION_NEW: Condition
CONDITION_REFURBISHED: Condition
CONDITION_UNSPECIFIED: Condition
CONDITION_USED: Condition
DESCRIPTOR: _descriptor.FileDescriptor
STATUS_ACTIVE: Status
STATUS_ARCHIVED: Status
STATUS_BANNED: Status
STATUS_EXPIRED: Status
STATUS_REMOVED: Status
STATUS_SOLD: Status
STATUS_UNSPECIFIED: Status

class Author(_message.Message):
    __slots__ = ["kind", "name"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    KIND_ADMIN: Author.Kind
    KIND_ARCHIVE: Author.Kind
    KIND_FEED: Author.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_MODERATION: Author.Kind
    KIND_SELLER: Author.Kind
    KIND_SERVICE: Author.Kind
    KIND_STAGE: Author.Kind
    KIND_SUPPORT: Author.Kind
    KIND_UNSPECIFIED: Author.Kind
    NAME_FIELD_NUMBER: _ClassVar[int]
    kind: Author.Kind
    name: str
    def __init__(self, kind: _Optional[_Union[Author.Kind, str]] = ..., name: _Optional[str] = ...) -> None: ...

class Contacts(_message.Message):
    __slots__ = ["chat", "email", "name", "phones"]
    CHAT_FIELD_NUMBER: _ClassVar[int]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PHONES_FIELD_NUMBER: _ClassVar[int]
    chat: bool
    email: str
    name: str
    phones: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., phones: _Optional[_Iterable[str]] = ..., email: _Optional[str] = ..., chat: bool = ...) -> None: ...

class Coordinates(_message.Message):
    __slots__ = ["latitude", "longitude"]
    LATITUDE_FIELD_NUMBER: _ClassVar[int]
    LONGITUDE_FIELD_NUMBER: _ClassVar[int]
    latitude: float
    longitude: float
    def __init__(self, latitude: _Optional[float] = ..., longitude: _Optional[float] = ...) -> None: ...

class Draft(_message.Message):
    __slots__ = ["create_time", "id", "offer", "update_time", "version"]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    OFFER_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    create_time: _timestamp_pb2.Timestamp
    id: str
    offer: Offer
    update_time: _timestamp_pb2.Timestamp
    version: int
    def __init__(self, id: _Optional[str] = ..., offer: _Optional[_Union[Offer, _Mapping]] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., version: _Optional[int] = ...) -> None: ...

class HistoryEntry(_message.Message):
    __slots__ = ["author", "changes", "time", "version"]
    class Excerpt(_message.Message):
        __slots__ = ["after", "before"]
        AFTER_FIELD_NUMBER: _ClassVar[int]
        BEFORE_FIELD_NUMBER: _ClassVar[int]
        after: str
        before: str
        def __init__(self, before: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...
    class FieldChange(_message.Message):
        __slots__ = ["after", "before", "excerpt", "field", "long"]
        AFTER_FIELD_NUMBER: _ClassVar[int]
        BEFORE_FIELD_NUMBER: _ClassVar[int]
        EXCERPT_FIELD_NUMBER: _ClassVar[int]
        FIELD_FIELD_NUMBER: _ClassVar[int]
        LONG_FIELD_NUMBER: _ClassVar[int]
        after: str
        before: str
        excerpt: HistoryEntry.Excerpt
        field: str
        long: bool
        def __init__(self, field: _Optional[str] = ..., before: _Optional[str] = ..., after: _Optional[str] = ..., long: bool = ..., excerpt: _Optional[_Union[HistoryEntry.Excerpt, _Mapping]] = ...) -> None: ...
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    author: Author
    changes: _containers.RepeatedCompositeFieldContainer[HistoryEntry.FieldChange]
    time: _timestamp_pb2.Timestamp
    version: int
    def __init__(self, version: _Optional[int] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., author: _Optional[_Union[Author, _Mapping]] = ..., changes: _Optional[_Iterable[_Union[HistoryEntry.FieldChange, _Mapping]]] = ...) -> None: ...

class Money(_message.Message):
    __slots__ = ["currency", "micros"]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    MICROS_FIELD_NUMBER: _ClassVar[int]
    currency: str
    micros: int
    def __init__(self, micros: _Optional[int] = ..., currency: _Optional[str] = ...) -> None: ...

class Obstacle(_message.Message):
    __slots__ = ["code", "field", "text"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    code: str
    field: str
    text: str
    def __init__(self, field: _Optional[str] = ..., code: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Offer(_message.Message):
    __slots__ = ["attributes", "catalogue_version", "category", "condition", "contacts", "create_time", "description", "expire_time", "expire_warning_time", "id", "obstacles", "photo_order", "photos", "place", "predicted_price", "price", "seller", "source", "status", "status_reason", "status_time", "title", "update_time", "version", "video"]
    class AttributesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Values
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Values, _Mapping]] = ...) -> None: ...
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    CATALOGUE_VERSION_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    CONTACTS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_WARNING_TIME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    OBSTACLES_FIELD_NUMBER: _ClassVar[int]
    PHOTOS_FIELD_NUMBER: _ClassVar[int]
    PHOTO_ORDER_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    PREDICTED_PRICE_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    SELLER_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_REASON_FIELD_NUMBER: _ClassVar[int]
    STATUS_TIME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VIDEO_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.MessageMap[str, Values]
    catalogue_version: int
    category: str
    condition: Condition
    contacts: Contacts
    create_time: _timestamp_pb2.Timestamp
    description: str
    expire_time: _timestamp_pb2.Timestamp
    expire_warning_time: _timestamp_pb2.Timestamp
    id: str
    obstacles: _containers.RepeatedCompositeFieldContainer[Obstacle]
    photo_order: _containers.RepeatedScalarFieldContainer[int]
    photos: _containers.RepeatedCompositeFieldContainer[Photo]
    place: Place
    predicted_price: PredictedPrice
    price: Price
    seller: str
    source: Source
    status: Status
    status_reason: StatusReason
    status_time: _timestamp_pb2.Timestamp
    title: str
    update_time: _timestamp_pb2.Timestamp
    version: int
    video: Video
    def __init__(self, id: _Optional[str] = ..., seller: _Optional[str] = ..., category: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., price: _Optional[_Union[Price, _Mapping]] = ..., attributes: _Optional[_Mapping[str, Values]] = ..., photos: _Optional[_Iterable[_Union[Photo, _Mapping]]] = ..., video: _Optional[_Union[Video, _Mapping]] = ..., place: _Optional[_Union[Place, _Mapping]] = ..., contacts: _Optional[_Union[Contacts, _Mapping]] = ..., condition: _Optional[_Union[Condition, str]] = ..., source: _Optional[_Union[Source, _Mapping]] = ..., status: _Optional[_Union[Status, str]] = ..., status_reason: _Optional[_Union[StatusReason, _Mapping]] = ..., status_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., version: _Optional[int] = ..., predicted_price: _Optional[_Union[PredictedPrice, _Mapping]] = ..., photo_order: _Optional[_Iterable[int]] = ..., expire_warning_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., catalogue_version: _Optional[int] = ..., obstacles: _Optional[_Iterable[_Union[Obstacle, _Mapping]]] = ...) -> None: ...

class OfferChange(_message.Message):
    __slots__ = ["author", "changed", "id", "offer", "time", "version"]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    OFFER_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    author: Author
    changed: _containers.RepeatedScalarFieldContainer[str]
    id: str
    offer: Offer
    time: _timestamp_pb2.Timestamp
    version: int
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ..., offer: _Optional[_Union[Offer, _Mapping]] = ..., changed: _Optional[_Iterable[str]] = ..., author: _Optional[_Union[Author, _Mapping]] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Photo(_message.Message):
    __slots__ = ["hash", "height", "problem", "sizes", "source_url", "width"]
    class SizesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    HASH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    SIZES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    hash: str
    height: int
    problem: Problem
    sizes: _containers.ScalarMap[str, str]
    source_url: str
    width: int
    def __init__(self, source_url: _Optional[str] = ..., sizes: _Optional[_Mapping[str, str]] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., hash: _Optional[str] = ..., problem: _Optional[_Union[Problem, _Mapping]] = ...) -> None: ...

class Place(_message.Message):
    __slots__ = ["address", "coordinates", "place_id"]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    COORDINATES_FIELD_NUMBER: _ClassVar[int]
    PLACE_ID_FIELD_NUMBER: _ClassVar[int]
    address: str
    coordinates: Coordinates
    place_id: str
    def __init__(self, address: _Optional[str] = ..., place_id: _Optional[str] = ..., coordinates: _Optional[_Union[Coordinates, _Mapping]] = ...) -> None: ...

class PredictedPrice(_message.Message):
    __slots__ = ["basis", "confidence", "count", "high", "low", "median"]
    class Confidence(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    BASIS_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_HIGH: PredictedPrice.Confidence
    CONFIDENCE_LOW: PredictedPrice.Confidence
    CONFIDENCE_MEDIUM: PredictedPrice.Confidence
    CONFIDENCE_UNSPECIFIED: PredictedPrice.Confidence
    COUNT_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    MEDIAN_FIELD_NUMBER: _ClassVar[int]
    basis: _containers.RepeatedScalarFieldContainer[str]
    confidence: PredictedPrice.Confidence
    count: int
    high: Money
    low: Money
    median: Money
    def __init__(self, median: _Optional[_Union[Money, _Mapping]] = ..., low: _Optional[_Union[Money, _Mapping]] = ..., high: _Optional[_Union[Money, _Mapping]] = ..., count: _Optional[int] = ..., confidence: _Optional[_Union[PredictedPrice.Confidence, str]] = ..., basis: _Optional[_Iterable[str]] = ...) -> None: ...

class Price(_message.Message):
    __slots__ = ["fixed", "free", "negotiable", "range"]
    class Free(_message.Message):
        __slots__ = []
        def __init__(self) -> None: ...
    class Negotiable(_message.Message):
        __slots__ = []
        FROM_FIELD_NUMBER: _ClassVar[int]
        def __init__(self, **kwargs) -> None: ...
    class PriceRange(_message.Message):
        __slots__ = ["to"]
        FROM_FIELD_NUMBER: _ClassVar[int]
        TO_FIELD_NUMBER: _ClassVar[int]
        to: Money
        def __init__(self, to: _Optional[_Union[Money, _Mapping]] = ..., **kwargs) -> None: ...
    FIXED_FIELD_NUMBER: _ClassVar[int]
    FREE_FIELD_NUMBER: _ClassVar[int]
    NEGOTIABLE_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    fixed: Money
    free: Price.Free
    negotiable: Price.Negotiable
    range: Price.PriceRange
    def __init__(self, fixed: _Optional[_Union[Money, _Mapping]] = ..., free: _Optional[_Union[Price.Free, _Mapping]] = ..., negotiable: _Optional[_Union[Price.Negotiable, _Mapping]] = ..., range: _Optional[_Union[Price.PriceRange, _Mapping]] = ...) -> None: ...

class Problem(_message.Message):
    __slots__ = ["code", "passing", "text", "time"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    PASSING_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    code: str
    passing: bool
    text: str
    time: _timestamp_pb2.Timestamp
    def __init__(self, code: _Optional[str] = ..., text: _Optional[str] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., passing: bool = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ["feed", "manual"]
    class Feed(_message.Message):
        __slots__ = ["external_id", "namespace"]
        EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
        NAMESPACE_FIELD_NUMBER: _ClassVar[int]
        external_id: str
        namespace: str
        def __init__(self, namespace: _Optional[str] = ..., external_id: _Optional[str] = ...) -> None: ...
    class Manual(_message.Message):
        __slots__ = []
        def __init__(self) -> None: ...
    FEED_FIELD_NUMBER: _ClassVar[int]
    MANUAL_FIELD_NUMBER: _ClassVar[int]
    feed: Source.Feed
    manual: Source.Manual
    def __init__(self, manual: _Optional[_Union[Source.Manual, _Mapping]] = ..., feed: _Optional[_Union[Source.Feed, _Mapping]] = ...) -> None: ...

class StatusReason(_message.Message):
    __slots__ = ["author", "code", "text"]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    author: Author
    code: str
    text: str
    def __init__(self, code: _Optional[str] = ..., text: _Optional[str] = ..., author: _Optional[_Union[Author, _Mapping]] = ...) -> None: ...

class Values(_message.Message):
    __slots__ = ["values"]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values: _Optional[_Iterable[str]] = ...) -> None: ...

class Video(_message.Message):
    __slots__ = ["availability", "url"]
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    class Availability(_message.Message):
        __slots__ = ["check_time", "problem", "state", "title"]
        CHECK_TIME_FIELD_NUMBER: _ClassVar[int]
        PROBLEM_FIELD_NUMBER: _ClassVar[int]
        STATE_FIELD_NUMBER: _ClassVar[int]
        TITLE_FIELD_NUMBER: _ClassVar[int]
        check_time: _timestamp_pb2.Timestamp
        problem: Problem
        state: Video.State
        title: str
        def __init__(self, state: _Optional[_Union[Video.State, str]] = ..., title: _Optional[str] = ..., check_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., problem: _Optional[_Union[Problem, _Mapping]] = ...) -> None: ...
    AVAILABILITY_FIELD_NUMBER: _ClassVar[int]
    STATE_AVAILABLE: Video.State
    STATE_UNAVAILABLE: Video.State
    STATE_UNKNOWN_HOST: Video.State
    STATE_UNSPECIFIED: Video.State
    URL_FIELD_NUMBER: _ClassVar[int]
    availability: Video.Availability
    url: str
    def __init__(self, url: _Optional[str] = ..., availability: _Optional[_Union[Video.Availability, _Mapping]] = ...) -> None: ...

class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Condition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
