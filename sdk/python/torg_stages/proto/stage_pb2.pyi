from google.protobuf import any_pb2 as _any_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from torg_stages.proto import offer_pb2 as _offer_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Answer(_message.Message):
    __slots__ = ["clear_state", "failure", "id", "patch", "replace", "state", "version", "visit_at"]
    CLEAR_STATE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    PATCH_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VISIT_AT_FIELD_NUMBER: _ClassVar[int]
    clear_state: bool
    failure: Failure
    id: str
    patch: Patch
    replace: _offer_pb2.Offer
    state: _any_pb2.Any
    version: int
    visit_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ..., patch: _Optional[_Union[Patch, _Mapping]] = ..., replace: _Optional[_Union[_offer_pb2.Offer, _Mapping]] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ..., state: _Optional[_Union[_any_pb2.Any, _Mapping]] = ..., clear_state: bool = ..., visit_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ["stage"]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    stage: str
    def __init__(self, stage: _Optional[str] = ...) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ["interest", "sets", "stage", "version", "wants_saved"]
    INTEREST_FIELD_NUMBER: _ClassVar[int]
    SETS_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WANTS_SAVED_FIELD_NUMBER: _ClassVar[int]
    interest: Interest
    sets: _field_mask_pb2.FieldMask
    stage: str
    version: str
    wants_saved: bool
    def __init__(self, stage: _Optional[str] = ..., version: _Optional[str] = ..., interest: _Optional[_Union[Interest, _Mapping]] = ..., wants_saved: bool = ..., sets: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ["lasting", "message"]
    LASTING_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    lasting: bool
    message: str
    def __init__(self, message: _Optional[str] = ..., lasting: bool = ...) -> None: ...

class Interest(_message.Message):
    __slots__ = ["ask", "fields", "inputs"]
    ASK_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    ask: bool
    fields: _field_mask_pb2.FieldMask
    inputs: _field_mask_pb2.FieldMask
    def __init__(self, fields: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., ask: bool = ..., inputs: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class OnSavedRequest(_message.Message):
    __slots__ = ["saved", "stage"]
    SAVED_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    saved: _containers.RepeatedCompositeFieldContainer[Saved]
    stage: str
    def __init__(self, stage: _Optional[str] = ..., saved: _Optional[_Iterable[_Union[Saved, _Mapping]]] = ...) -> None: ...

class OnSavedResponse(_message.Message):
    __slots__ = ["failures"]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    failures: _containers.RepeatedCompositeFieldContainer[SavedFailure]
    def __init__(self, failures: _Optional[_Iterable[_Union[SavedFailure, _Mapping]]] = ...) -> None: ...

class Patch(_message.Message):
    __slots__ = ["fields", "values"]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    fields: _field_mask_pb2.FieldMask
    values: _offer_pb2.Offer
    def __init__(self, fields: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., values: _Optional[_Union[_offer_pb2.Offer, _Mapping]] = ...) -> None: ...

class ProcessRequest(_message.Message):
    __slots__ = ["now", "stage", "subjects"]
    NOW_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    now: _timestamp_pb2.Timestamp
    stage: str
    subjects: _containers.RepeatedCompositeFieldContainer[Subject]
    def __init__(self, stage: _Optional[str] = ..., now: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., subjects: _Optional[_Iterable[_Union[Subject, _Mapping]]] = ...) -> None: ...

class ProcessResponse(_message.Message):
    __slots__ = ["answers"]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[Answer]
    def __init__(self, answers: _Optional[_Iterable[_Union[Answer, _Mapping]]] = ...) -> None: ...

class Saved(_message.Message):
    __slots__ = ["offer", "state"]
    OFFER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    offer: _offer_pb2.Offer
    state: _any_pb2.Any
    def __init__(self, offer: _Optional[_Union[_offer_pb2.Offer, _Mapping]] = ..., state: _Optional[_Union[_any_pb2.Any, _Mapping]] = ...) -> None: ...

class SavedFailure(_message.Message):
    __slots__ = ["failure", "id", "version"]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    failure: Failure
    id: str
    version: int
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ...) -> None: ...

class ShouldProcessRequest(_message.Message):
    __slots__ = ["now", "stage", "subjects"]
    NOW_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    now: _timestamp_pb2.Timestamp
    stage: str
    subjects: _containers.RepeatedCompositeFieldContainer[Subject]
    def __init__(self, stage: _Optional[str] = ..., now: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., subjects: _Optional[_Iterable[_Union[Subject, _Mapping]]] = ...) -> None: ...

class ShouldProcessResponse(_message.Message):
    __slots__ = ["wishes"]
    WISHES_FIELD_NUMBER: _ClassVar[int]
    wishes: _containers.RepeatedCompositeFieldContainer[Wish]
    def __init__(self, wishes: _Optional[_Iterable[_Union[Wish, _Mapping]]] = ...) -> None: ...

class Subject(_message.Message):
    __slots__ = ["offer", "state"]
    OFFER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    offer: _offer_pb2.Offer
    state: _any_pb2.Any
    def __init__(self, offer: _Optional[_Union[_offer_pb2.Offer, _Mapping]] = ..., state: _Optional[_Union[_any_pb2.Any, _Mapping]] = ...) -> None: ...

class Wish(_message.Message):
    __slots__ = ["at", "failure", "id", "no", "now"]
    class No(_message.Message):
        __slots__ = []
        def __init__(self) -> None: ...
    class Now(_message.Message):
        __slots__ = []
        def __init__(self) -> None: ...
    AT_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    NO_FIELD_NUMBER: _ClassVar[int]
    at: _timestamp_pb2.Timestamp
    failure: Failure
    id: str
    no: Wish.No
    now: Wish.Now
    def __init__(self, id: _Optional[str] = ..., no: _Optional[_Union[Wish.No, _Mapping]] = ..., now: _Optional[_Union[Wish.Now, _Mapping]] = ..., at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ...) -> None: ...
