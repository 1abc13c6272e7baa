/** The user of the benchmark. The password is no secret, and its hash stands here so that every run has the same. */
const NAME = 'bench'
export const PASSWORD = 'bench'
export const PASSWORD_HASH =
  '$scrypt$ln=15,r=8,p=1$DEE7t8qLd8Iny0zIFPTF/A$XpfUGGTEnPHQ9FKzdO3Ps5yT2nlzuMezFPlgjSO26SA'

/** What a client sends. */
export const BASIC_HEADERS = {
  authorization: `Basic ${Buffer.from(`${NAME}:${PASSWORD}`).toString('base64')}`,
} as const

/** The policy that takes it. */
export const BASIC_AUTH = {
  use: 'basic-auth',
  with: { users: [{ name: NAME, password: PASSWORD_HASH }] },
} as const
