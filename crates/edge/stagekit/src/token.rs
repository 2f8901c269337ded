//! Token check of callers.

use connectrpc::interceptor::{StreamRequest, StreamResponse, UnaryRequest, UnaryResponse};
use connectrpc::{ConnectError, Interceptor, Next, NextStream, PayloadStream, RequestContext};
use subtle::ConstantTimeEq as _;

/// Health probes need no token.
const OPEN: &str = "/grpc.health.v1.Health/";

/// Admits calls with the token, and health probes.
pub(crate) struct TokenCheck {
    expected: Vec<u8>,
}

impl TokenCheck {
    pub(crate) fn new(token: &str) -> TokenCheck {
        TokenCheck { expected: format!("Bearer {token}").into_bytes() }
    }

    fn check(&self, context: &RequestContext) -> Result<(), ConnectError> {
        let open = context.path().is_some_and(|path| path.starts_with(OPEN));
        let mut shown = context.headers().get_all("authorization").iter();
        let right = match (shown.next(), shown.next()) {
            // In constant time.
            (Some(only), None) => bool::from(self.expected.ct_eq(only.as_bytes())),
            _ => false,
        };
        if open || right {
            return Ok(());
        }
        Err(ConnectError::unauthenticated("this needs the stage's token: authorization: Bearer ..."))
    }
}

#[connectrpc::async_trait]
impl Interceptor for TokenCheck {
    async fn intercept_unary(
        &self,
        request: UnaryRequest,
        next: Next<'_>,
    ) -> Result<UnaryResponse, ConnectError> {
        self.check(&request.ctx)?;
        next.run(request).await
    }

    async fn intercept_streaming(
        &self,
        request: StreamRequest,
        inbound: PayloadStream,
        next: NextStream<'_>,
    ) -> Result<StreamResponse, ConnectError> {
        self.check(&request.ctx)?;
        next.run(request, inbound).await
    }
}
