//! The code of services: a trait with owned messages, its registration with a router, and a client
//! that only encodes and decodes.

use std::fmt::Write as _;

use anyhow::bail;
use buffa_codegen::generated::descriptor::method_options::IdempotencyLevel;
use buffa_codegen::generated::descriptor::{
    FileDescriptorProto, MethodDescriptorProto, ServiceDescriptorProto,
};

/// The code of all services of a file; empty if it has none.
pub(crate) fn generate(file: &FileDescriptorProto) -> anyhow::Result<String> {
    let package = file.package.as_deref().unwrap_or_default();
    let mut out = String::new();
    for service in &file.service {
        let methods: Result<Vec<Method>, _> =
            service.method.iter().map(|method| Method::new(package, service, method)).collect();
        let methods = methods?;
        let name = service.name.as_deref().unwrap_or_default();
        let constant = snake(name).to_uppercase();
        let _ = writeln!(out, "pub const {constant}_SERVICE_NAME: &str = {:?};", full(package, name));
        write_server(&mut out, name, &methods);
        write_client(&mut out, name, &methods);
    }
    Ok(out)
}

struct Method {
    /// `/torg.offers.v1.OfferService/GetOffer`
    path: String,
    rust_name: String,
    input: String,
    output: String,
    is_stream: bool,
    is_read: bool,
}

impl Method {
    fn new(
        package: &str,
        service: &ServiceDescriptorProto,
        method: &MethodDescriptorProto,
    ) -> anyhow::Result<Self> {
        let name = method.name.as_deref().unwrap_or_default();
        let path = format!("/{}/{name}", full(package, service.name.as_deref().unwrap_or_default()));
        if method.client_streaming.unwrap_or_default() {
            bail!("{path}: streams of requests are not supported by this generator");
        }
        let message = |full_name: Option<&str>| {
            let full_name = full_name.unwrap_or_default();
            let local = full_name.strip_prefix(&format!(".{package}."));
            match local.filter(|name| !name.contains('.')) {
                Some(name) => Ok(name.to_owned()),
                None => bail!("{path}: {full_name} is no top-level message of package {package}"),
            }
        };
        let level = method.options.as_option().and_then(|options| options.idempotency_level);
        Ok(Self {
            input: message(method.input_type.as_deref())?,
            output: message(method.output_type.as_deref())?,
            rust_name: snake(name),
            is_stream: method.server_streaming.unwrap_or_default(),
            is_read: level == Some(IdempotencyLevel::NO_SIDE_EFFECTS),
            path,
        })
    }

    fn spec(&self) -> String {
        let kind = if self.is_stream { "ServerStream" } else { "Unary" };
        let level = if self.is_read { "NoSideEffects" } else { "Unknown" };
        format!(
            "::connectrpc::Spec::server({:?}, ::connectrpc::StreamType::{kind})\
             .with_idempotency_level(::connectrpc::IdempotencyLevel::{level})",
            self.path
        )
    }
}

fn write_server(out: &mut String, service: &str, methods: &[Method]) {
    let _ = writeln!(out, "pub trait {service}: Send + Sync + 'static {{");
    for Method { rust_name, input, output, is_stream, .. } in methods {
        let answer =
            if *is_stream { format!("::connectrpc::ServiceStream<{output}>") } else { output.clone() };
        let _ = writeln!(
            out,
            "fn {rust_name}(&self, context: ::connectrpc::RequestContext, request: {input}) -> \
             impl ::core::future::Future<Output = ::connectrpc::ServiceResult<{answer}>> + Send;"
        );
    }
    let _ = writeln!(
        out,
        "}}\n\
         #[doc(hidden)]\n\
         pub struct {service}Marker;\n\
         impl<S: {service}> ::connectrpc::ServiceRegister<{service}Marker> for ::std::sync::Arc<S> {{\n\
         fn register_service(self, router: ::connectrpc::Router) -> ::connectrpc::Router {{"
    );
    for method in methods {
        let Method { rust_name, input, is_stream, .. } = method;
        let register = if *is_stream { "server_stream" } else { "unary" };
        let _ = writeln!(
            out,
            "let router = ::wire_stages::rpc::{register}(router, {}, &self, \
             |service: ::std::sync::Arc<S>, context, request: {input}| async move {{ \
             service.{rust_name}(context, request).await }});",
            method.spec()
        );
    }
    out.push_str("router\n}\n}\n");
}

fn write_client(out: &mut String, service: &str, methods: &[Method]) {
    let _ = writeln!(
        out,
        "#[cfg(feature = \"client\")]\n\
         #[derive(Clone)]\n\
         pub struct {service}Client(::wire_stages::rpc::Client);\n\
         #[cfg(feature = \"client\")]\n\
         impl ::core::convert::From<::wire_stages::rpc::Client> for {service}Client {{\n\
         fn from(client: ::wire_stages::rpc::Client) -> Self {{ Self(client) }}\n\
         }}\n\
         #[cfg(feature = \"client\")]\n\
         impl {service}Client {{\n\
         pub fn new(transport: impl ::wire_stages::rpc::Transport, \
         config: ::connectrpc::client::ClientConfig) -> Self {{\n\
         Self(::wire_stages::rpc::Client::new(transport, config))\n\
         }}\n\
         #[must_use]\n\
         pub fn with_timeout(&self, timeout: ::core::time::Duration) -> Self {{ \
         Self(self.0.with_timeout(timeout)) }}"
    );
    for Method { path, rust_name, input, output, is_stream, .. } in methods {
        let (call, answer) = if *is_stream {
            ("server_stream", format!("::wire_stages::rpc::MessageStream<{output}>"))
        } else {
            ("unary", output.clone())
        };
        let _ = writeln!(
            out,
            "#[inline]\n\
             pub async fn {rust_name}(&self, request: {input}) -> \
             ::core::result::Result<{answer}, ::connectrpc::ConnectError> {{ \
             self.0.{call}({path:?}, &request).await }}"
        );
    }
    out.push_str("}\n");
}

fn full(package: &str, name: &str) -> String {
    format!("{package}.{name}")
}

/// `GetOffer` as `get_offer`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}
