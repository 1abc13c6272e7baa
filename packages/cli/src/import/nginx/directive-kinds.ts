import type { Directive } from './parse.js'

/** Directives about processes, files, buffers and logs of nginx. The document does not need them. */
export const NOT_NEEDED =
  /^(user|worker_.*|pid|daemon|master_process|events|multi_accept|use|error_log|access_log|log_format|log_not_found|open_file_cache.*|sendfile.*|tcp_nopush|tcp_nodelay|types|default_type|types_hash.*|server_names_hash.*|variables_hash.*|map_hash.*|server_tokens|charset|reset_timedout_connection|send_timeout|keepalive|keepalive_requests|keepalive_time|zone|load_module|pcre_jit|aio|directio|output_buffers|postpone_output|resolver_timeout|ssl_session_.*|ssl_prefer_server_ciphers|ssl_buffer_size|ssl_dhparam|ssl_stapling.*|ssl_trusted_certificate|ssl_ecdh_curve|proxy_buffering|proxy_buffers?|proxy_buffer_size|proxy_busy_buffers_size|proxy_temp.*|proxy_max_temp_file_size|proxy_headers_hash.*|proxy_http_version|proxy_request_buffering|proxy_cache_path|proxy_cache_lock.*|client_body_buffer_size|client_body_temp_path|client_header_buffer_size|large_client_header_buffers|client_body_in_file_only|fastcgi_(buffer|buffers|busy|temp).*|gzip_(vary|proxied|disable|buffers|http_version|static)|etag|merge_slashes|port_in_redirect|absolute_redirect|server_name_in_redirect|lingering_.*|thread_pool|env|timer_resolution|http2_.*|ssl_ciphers|ssl_conf_command|ssl|recursive_error_pages|proxy_intercept_errors|msie_.*|underscores_in_headers|limit_req_log_level|limit_conn_log_level|limit_req_status|limit_conn_status|uninitialized_variable_warn|rewrite_log|proxy_socket_keepalive|proxy_pass_header|random_index|chunked_transfer_encoding|if_modified_since|root|alias|index|autoindex.*|internal)$/

/** Directives that are mapped even if no location of the configuration needs them. */
export const MAPPED =
  'proxy_set_header grpc_set_header proxy_hide_header add_header proxy_connect_timeout proxy_read_timeout proxy_send_timeout proxy_next_upstream proxy_next_upstream_tries gzip gzip_types gzip_min_length gzip_comp_level client_max_body_size limit_req_zone limit_conn_zone resolver ssl_protocols ssl_certificate ssl_certificate_key limit_req_dry_run grpc_read_timeout'

/** Directives that restrict access and that the import cannot map. */
const PROTECTIONS: Readonly<Record<string, string>> = {
  auth_request: 'use the policy forward-auth',
  auth_jwt: 'use the policy jwt',
  auth_ldap: 'use the policy ldap',
  secure_link: 'use the policy hmac-signature or script',
  valid_referers: 'use a condition on req.header["referer"]',
  ssl_crl: 'use short-lived client certificates',
  js_access: 'use the policy script',
  perl: 'use the policy script',
  ssl_verify_client: 'use the policy mtls',
  limit_except: 'use match.methods and a second route for the other methods',
  rewrite: 'use redirect, or rewrite of a route',
  include: 'import the configuration on a machine that has the file',
  satisfy: 'use two routes, one with ip-filter and one with basic-auth',
}
/** Names of directives of modules that restrict access, and of their settings that restrict nothing. */
const PROTECTION =
  /^(auth_(?!basic|http)|secure_link|app_protect_|access_by_|(server_)?rewrite_by_|Sec|modsecurity)/
const SETTING = /(_set|(?<!_by_lua|rules)_file|_log|_no_postpone)$/
/** Directives in `if` that decide what happens to a request. */
const DECISION = /^(return|deny|break|rewrite|\w+_pass)$/
/** Files of a distribution that contain no rules for access. */
const HARMLESS_INCLUDE =
  /(^|\/)(mime\.types|(proxy|fastcgi|uwsgi|scgi|grpc)_params|fastcgi[\w-]*\.conf|options-ssl-nginx\.conf)$|modules-enabled/

/** True if a directive restricts access and cannot be mapped. */
export function isProtection({ name, args, block }: Directive): boolean {
  if (name === 'if') return (block ?? []).some((one) => DECISION.test(one.name) || isProtection(one))
  if (name === 'ssl_verify_client') return args[0] === 'optional_no_ca'
  if (name === 'satisfy') return args[0] === 'any'
  if (name === 'include') return !HARMLESS_INCLUDE.test(args[0] ?? '')
  const isKnown = Object.hasOwn(PROTECTIONS, name) || (PROTECTION.test(name) && !SETTING.test(name))
  return isKnown && args[0]?.toLowerCase() !== 'off'
}

/** Returns the manual way to protect a route. */
export function protectionRemedy(name: string): string {
  if (/_by_lua/.test(name)) return 'use the policy script'
  if (/^(Sec|modsecurity|app_protect_)/.test(name)) return 'use the policy content-filter'
  return PROTECTIONS[name] ?? 'use match.when on a second route, or a policy with when'
}

/** Reasons for directives that are known but not mapped, and what to use instead. */
const REASONS: readonly (readonly [RegExp, string, string?])[] = [
  [/^error_page$/, 'the gateway answers errors with a problem document', 'use mock, or a route with respond'],
  [/^expires$/, 'expiry depends on the type of files', 'use header with response.set'],
  [/^(map|set|if|split_clients|geo.*)$/, 'its result depends on the request', 'use conditions (when)'],
  [/^(stream|mail)$/, 'only HTTP is supported'],
  [/^include$/, 'there is no such file'],
  [/^limit_rate/, 'the rate of responses is not limited'],
  [/^mirror$/, 'mirrors are part of an upstream', 'add a target with role: mirror'],
  [/^sub_filter/, 'response bodies are not rewritten', 'use transform or script'],
  [/^(fastcgi|uwsgi|scgi|memcached)_pass$/, 'only HTTP is supported', 'put an HTTP server in front of it'],
  [/^proxy_(redirect|cookie_)/, 'responses of the upstream are not changed', 'use header or script'],
  [/^proxy_(cache|no_cache|ignore_headers)/, 'nothing is cached', 'use response-cache'],
  [/^upstream$/, 'no route uses it'],
  [/^stub_status$/, 'the gateway has its own metrics', 'use /metrics of the admin API'],
]

/** Returns the reason why a directive is not mapped, and the manual alternative if there is one. */
export function reasonFor(name: string): readonly [string, (string | undefined)?] {
  const [, reason, remedy] = REASONS.find(([pattern]) => pattern.test(name)) ?? []
  return [reason ?? 'unknown directive, or nothing uses it here', remedy]
}
