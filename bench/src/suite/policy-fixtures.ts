import type { MadeBody } from '../model/scenario.js'
import { COMPUTING_FIXTURES } from './computing-fixtures.js'

/** How a policy is measured: the use in the document, and what a call needs so that it gets through. */
export interface PolicyFixture {
  /** What its bodies are; it is measured with POST then. Null: it works on no bodies. */
  readonly body: MadeBody['kind'] | null
  readonly headers: Readonly<Record<string, string>>
  readonly use: Readonly<Record<string, unknown>> & { readonly use: string }
}

/** The user of the benchmark. The password is no secret, and its hash stands here so that every run has the same. */
const NAME = 'bench'
export const PASSWORD = 'bench'
export const PASSWORD_HASH =
  '$scrypt$ln=15,r=8,p=1$DEE7t8qLd8Iny0zIFPTF/A$XpfUGGTEnPHQ9FKzdO3Ps5yT2nlzuMezFPlgjSO26SA'

/** What a client sends, and the policy that takes it. */
export const BASIC_HEADERS = {
  authorization: `Basic ${Buffer.from(`${NAME}:${PASSWORD}`).toString('base64')}`,
} as const
export const BASIC_AUTH = {
  use: 'basic-auth',
  with: { users: [{ name: NAME, password: PASSWORD_HASH }] },
} as const

/** The key of the benchmark; it is no secret. */
export const API_KEY = 'gw_benchmark-key-00000000000000000000000000000'
export const API_KEY_SHA256 = 'c3fb6fcaa6b340d2acd67827fc394134660b8c5dcb6003dace585dbee2ddee69'

/** One field set on the way there and one on the way back: the policy of the WSO2 API Platform report. */
export const HEADER_BOTH_WAYS = {
  use: 'header',
  with: {
    request: { set: { 'x-benchmark-request': 'set-by-the-gateway' } },
    response: { set: { 'x-benchmark-response': 'set-by-the-gateway' } },
  },
} as const

/** The fixtures by the name of their policy, in the order in which they are measured. */
export const POLICY_FIXTURES: ReadonlyMap<string, PolicyFixture> = new Map(
  (
    [
      { body: null, headers: {}, use: HEADER_BOTH_WAYS },
      { body: null, headers: BASIC_HEADERS, use: BASIC_AUTH },
      {
        body: null,
        headers: { 'x-api-key': API_KEY },
        use: { use: 'api-key', with: { keys: [{ id: 'bench', sha256: API_KEY_SHA256 }] } },
      },
      {
        body: null,
        headers: {},
        use: { use: 'ip-filter', with: { allow: ['127.0.0.0/8', '10.0.0.0/8'], deny: ['10.3.10.*'] } },
      },
      { body: 'json', headers: {}, use: { use: 'body-limit', with: { max: '1mb' } } },
      ...COMPUTING_FIXTURES,
    ] satisfies PolicyFixture[]
  ).map((fixture) => [fixture.use.use, fixture]),
)
