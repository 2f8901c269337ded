//! The macro that implements a generated service trait.

/// Implements a service: each method takes the caller and the request apart and hands both to a
/// method of the type: `list_stages(ListStagesRequest) -> ListStagesResponse = list;`. With
/// `stream` the answer is a stream; with `in the language of` the method also gets the language of
/// the answer.
macro_rules! service {
    ($service:ident for $calls:ty { $($rest:tt)* }) => {
        impl proto::$service for $calls {
            $crate::service::methods! { $($rest)* }
        }
    };
}

macro_rules! methods {
    () => {};
    ($method:ident($request:ident) -> $response:ident = $call:ident; $($rest:tt)*) => {
        async fn $method(
            &self,
            context: connectrpc::RequestContext,
            request: proto::$request,
        ) -> connectrpc::ServiceResult<proto::$response> {
            let caller = $crate::caller::of_request(&context)?;
            let answer = Box::pin(self.$call(caller, request)).await?;
            connectrpc::Response::ok(answer)
        }
        $crate::service::methods! { $($rest)* }
    };
    (stream $method:ident($request:ident) -> $response:ident = $call:ident; $($rest:tt)*) => {
        async fn $method(
            &self,
            context: connectrpc::RequestContext,
            request: proto::$request,
        ) -> connectrpc::ServiceResult<connectrpc::ServiceStream<proto::$response>> {
            let caller = $crate::caller::of_request(&context)?;
            connectrpc::Response::stream_ok(self.$call(caller, request).await?)
        }
        $crate::service::methods! { $($rest)* }
    };
    ($method:ident($request:ident) -> $response:ident = $call:ident in the language of $named:expr; $($rest:tt)*) => {
        async fn $method(
            &self,
            context: connectrpc::RequestContext,
            request: proto::$request,
        ) -> connectrpc::ServiceResult<proto::$response> {
            let named: fn(&proto::$request) -> &str = $named;
            let language = $crate::feeds::language_of(named(&request), context.headers())?;
            let caller = $crate::caller::of_request(&context)?;
            connectrpc::Response::ok(Box::pin(self.$call(caller, request, language)).await?)
        }
        $crate::service::methods! { $($rest)* }
    };
}

pub(crate) use {methods, service};
