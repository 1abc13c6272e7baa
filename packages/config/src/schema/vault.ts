import { Type } from '@sinclair/typebox'
import { duration, filePath, object, oneOf, text } from './build.js'

const MOUNT = '^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$'

/** Creates the schema of a mount or namespace, whose segments cannot be `.` or `..`. */
function mountPath(options: { readonly description: string; readonly default?: string }) {
  return Type.String({
    pattern: MOUNT,
    maxLength: 256,
    expects: 'a path such as secret or team/kv, without slashes at its ends',
    ...options,
  })
}

const kubernetes = object(
  {
    role: Type.String({ minLength: 1, maxLength: 256, description: 'Role of the Kubernetes auth method.' }),
    mount: mountPath({ default: 'kubernetes', description: 'Mount of the auth method.' }),
    tokenFile: Type.String({
      minLength: 1,
      maxLength: 4096,
      path: true,
      default: '/var/run/secrets/kubernetes.io/serviceaccount/token',
      description: 'Service account token, read at each login.',
    }),
  },
  { description: 'Login with the service account of the pod.' },
)

const appRole = object(
  {
    roleId: Type.String({ minLength: 1, maxLength: 4096, description: 'RoleID.' }),
    secretId: Type.Optional(
      Type.String({
        secret: true,
        minLength: 1,
        maxLength: 4096,
        description: 'SecretID. Absent: the role does not need one.',
      }),
    ),
    mount: mountPath({ default: 'approle', description: 'Mount of the auth method.' }),
  },
  { description: 'Login with an AppRole.' },
)

const auth = object(
  {
    token: Type.Optional(
      Type.String({
        secret: true,
        minLength: 1,
        maxLength: 4096,
        description: 'Token, renewed if possible.',
      }),
    ),
    tokenFile: Type.Optional(
      filePath('File with a token, read again each time, for example the sink of a Vault Agent.'),
    ),
    kubernetes: Type.Optional(kubernetes),
    appRole: Type.Optional(appRole),
  },
  {
    choice: { keys: ['token', 'tokenFile', 'kubernetes', 'appRole'], min: 1, max: 1 },
    description: 'Login, one of these. Default: the token in the variable `VAULT_TOKEN`.',
  },
)

const tls = object(
  {
    caFile: Type.Optional(
      filePath(
        'CA certificates that the server certificate is verified against, PEM. Default: the file in `VAULT_CACERT`, else the CAs of the system.',
      ),
    ),
  },
  { default: {}, description: 'TLS settings for `https://` addresses.' },
)

/** Secrets in the plan of a login. */
export const vaultSecretsSchema = Type.Object({
  token: Type.String({ secret: true }),
  secretId: Type.String({ secret: true }),
})

/** Schema of the access to HashiCorp Vault or OpenBao. */
export const vaultSchema = object(
  {
    address: Type.Optional(
      text('http-url', {
        description: 'URL of the server. Default: `VAULT_ADDR`.',
      }),
    ),
    namespace: Type.Optional(mountPath({ description: 'Namespace. Default: `VAULT_NAMESPACE`.' })),
    mount: mountPath({ default: 'secret', description: 'Mount of the KV secrets engine.' }),
    engine: oneOf(['kv-v2', 'kv-v1'], { default: 'kv-v2', description: 'Version of the KV secrets engine.' }),
    auth: Type.Optional(auth),
    tls,
    refresh: duration('1s', '24h', {
      default: '5m',
      description:
        'Interval for reading the secrets again. If the lease of a secret is shorter, the lease counts.',
    }),
    timeout: duration('1s', '5m', {
      default: '30s',
      description:
        'Maximum time to wait for Vault when a document is loaded, including repeated attempts. A single attempt takes at most 5 s.',
    }),
  },
  {
    description:
      'HashiCorp Vault or OpenBao, for references such as `${vault:app/db#password}`. Absent: settings from the environment.',
  },
)
