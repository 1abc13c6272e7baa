import { Type } from '@sinclair/typebox'
import { type Catalog, definePolicy, type Policy } from '@sluice/core'
import { OTHER_KEY, SAMPLE_CERTIFICATE, SAMPLE_KEY } from './sample-certificate.js'

const marker = definePolicy({
  name: 'marker',
  summary: 'Sample policy for tests.',
  schema: Type.Object(
    {
      text: Type.Optional(Type.String()),
      level: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: 5 })),
      target: Type.Optional(
        Type.Union([
          Type.Object({ kind: Type.Literal('none') }, { additionalProperties: false }),
          Type.Object(
            {
              kind: Type.Literal('file'),
              path: Type.String(),
              mode: Type.Optional(Type.String({ default: 'append' })),
            },
            { additionalProperties: false },
          ),
        ]),
      ),
    },
    { additionalProperties: false },
  ),
  compile: () => null,
})

const secretBox = definePolicy({
  name: 'secret-box',
  summary: 'Sample policy with secrets for tests.',
  schema: Type.Object(
    {
      users: Type.Array(
        Type.Object(
          { name: Type.String(), password: Type.String({ secret: true, minLength: 1 }) },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  compile: () => null,
})

const policies: readonly Policy[] = [marker, secretBox]

/** Policies for the tests of this package. */
export const SAMPLE_CATALOG: Catalog = new Map(policies.map((policy) => [policy.name, policy]))

/** Environment for the tests of this package. Its secret values are easy to search for. */
export const SAMPLE_ENV = {
  PORT: '9090',
  SIZE: '2mb',
  YES: 'true',
  COUNT: '3',
  HOST: 'host.example.org',
  ORDERS_URL: 'http://orders:9000/',
  UPSTREAM: 'orders',
  POLICY: 'marker',
  SECRET: 'never-to-be-seen',
  TOKEN_HASH: 'fe03e5e062ed57193f66ac02c625440e47c7babb127f9252f1f856ed054b5e05',
} as const

/** Returns the content of a test file by its last path segment. */
export function readSampleFile(path: string): string {
  const text = FILES[path.slice(path.lastIndexOf('/') + 1)]
  if (text === undefined) throw new Error('there is no such file')
  return text
}

const FILES: Readonly<Record<string, string>> = {
  // End of a MaxMind database, as far as documents are checked.
  'places.mmdb': '\xab\xcd\xefMaxMind.com\xe9',
  // First byte of an OCSP response. Document checks read no more of it.
  'ocsp.der': '0',
  'cert.pem': SAMPLE_CERTIFICATE,
  'key.pem': SAMPLE_KEY,
  'other-key.pem': OTHER_KEY,
  'ca.pem': SAMPLE_CERTIFICATE,
  'client-cert.pem': SAMPLE_CERTIFICATE,
  'client-key.pem': SAMPLE_KEY,
  'not-pem.txt': 'hello\n',
  'kubeconfig.yaml': 'clusters: []\n',
  'secret.txt': 'hidden-in-a-file\n',
  'big.txt': 'x'.repeat(65 * 1024),
}
