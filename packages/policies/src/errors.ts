import { declareErrors } from '@sluice/core'
import { BACKEND_AUTH_ERRORS } from './auth/backend-auth/errors.js'
import { OAUTH2_INTROSPECTION_ERRORS } from './auth/oauth2-introspection/errors.js'
import { OIDC_BACKCHANNEL_LOGOUT_ERRORS } from './auth/oidc-backchannel-logout/errors.js'
import { CONTENT_FILTER_ERRORS } from './content/content-filter/errors.js'
import { CIPHER_ERRORS } from './crypto/cipher/errors.js'
import { KEYS_ERRORS } from './crypto/keys/errors.js'
import { JSON_SCHEMA_ERRORS } from './engines/json-schema/errors.js'
import { IDENTITY_ERRORS } from './identity/errors.js'
import { TOKEN_ERRORS } from './identity/token/errors.js'
import { LIMITS_ERRORS } from './shared/limits/errors.js'
import { TRANSFORMATION_ERRORS } from './shared/transformation/errors.js'
import { BODY_LIMIT_ERRORS } from './traffic/body-limit/errors.js'
import { CACHE_ERRORS } from './traffic/cache/errors.js'
import { CLIENT_BAN_ERRORS } from './traffic/client-ban/errors.js'
import { CONCURRENCY_LIMIT_ERRORS } from './traffic/concurrency-limit/errors.js'
import { CORS_ERRORS } from './traffic/cors/errors.js'
import { FAULT_ERRORS } from './traffic/fault/errors.js'
import { GEO_FILTER_ERRORS } from './traffic/geo-filter/errors.js'
import { IP_FILTER_ERRORS } from './traffic/ip-filter/errors.js'
import { MAINTENANCE_ERRORS } from './traffic/maintenance/errors.js'
import { QUOTA_ERRORS } from './traffic/quota/errors.js'
import { RESPONSE_CACHE_ERRORS } from './traffic/response-cache/errors.js'
import { TIME_WINDOW_ERRORS } from './traffic/time-window/errors.js'
import { API_CALL_ERRORS } from './transform/api-call/errors.js'
import { SCRIPT_ERRORS } from './transform/script/errors.js'
import { SAML_ERRORS, WS_SECURITY_ERRORS } from './xml-errors.js'

/** Error codes of the policies, in the order of docs/reference/errors.md. */
const POLICY_ERRORS = {
  ...IDENTITY_ERRORS,
  ...TOKEN_ERRORS,
  ...BACKEND_AUTH_ERRORS,
  ...OAUTH2_INTROSPECTION_ERRORS,
  ...OIDC_BACKCHANNEL_LOGOUT_ERRORS,
  ...SAML_ERRORS,
  ...BODY_LIMIT_ERRORS,
  ...CACHE_ERRORS,
  ...CLIENT_BAN_ERRORS,
  ...CONCURRENCY_LIMIT_ERRORS,
  ...CORS_ERRORS,
  ...FAULT_ERRORS,
  ...GEO_FILTER_ERRORS,
  ...IP_FILTER_ERRORS,
  ...MAINTENANCE_ERRORS,
  ...QUOTA_ERRORS,
  ...RESPONSE_CACHE_ERRORS,
  ...TIME_WINDOW_ERRORS,
  ...LIMITS_ERRORS,
  ...TRANSFORMATION_ERRORS,
  ...JSON_SCHEMA_ERRORS,
  ...CONTENT_FILTER_ERRORS,
  ...WS_SECURITY_ERRORS,
  ...KEYS_ERRORS,
  ...CIPHER_ERRORS,
  ...API_CALL_ERRORS,
  ...SCRIPT_ERRORS,
} as const

declareErrors(POLICY_ERRORS)

type DeclaredErrors = typeof POLICY_ERRORS

declare module '@sluice/core' {
  interface PolicyErrors extends DeclaredErrors {}
}
