from google.protobuf import any_pb2 as _any_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetStateRequest(_message.Message):
    __slots__ = ["id", "stage"]
    ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    id: str
    stage: str
    def __init__(self, stage: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class GetStateResponse(_message.Message):
    __slots__ = ["state", "version"]
    STATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    state: _any_pb2.Any
    version: int
    def __init__(self, state: _Optional[_Union[_any_pb2.Any, _Mapping]] = ..., version: _Optional[int] = ...) -> None: ...

class SetStateRequest(_message.Message):
    __slots__ = ["id", "stage", "state", "version", "visit"]
    ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VISIT_FIELD_NUMBER: _ClassVar[int]
    id: str
    stage: str
    state: _any_pb2.Any
    version: int
    visit: bool
    def __init__(self, stage: _Optional[str] = ..., id: _Optional[str] = ..., state: _Optional[_Union[_any_pb2.Any, _Mapping]] = ..., version: _Optional[int] = ..., visit: bool = ...) -> None: ...

class SetStateResponse(_message.Message):
    __slots__ = ["version"]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: int
    def __init__(self, version: _Optional[int] = ...) -> None: ...
