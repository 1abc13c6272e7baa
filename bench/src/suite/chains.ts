/** What stands together in front of real services, in the order in which it runs. */
export const CHAINS: readonly (readonly string[])[] = [
  ['api-key', 'body-limit', 'header'],
  ['ip-filter', 'basic-auth', 'header'],
  ['ip-filter', 'api-key', 'body-limit', 'header'],
]

const PREFIX = 'chain-'

/** The name of a chain beside those of policies, such as `chain-ip-filter-basic-auth-header`. */
export function chainName(policies: readonly string[]): string {
  return PREFIX + policies.join('-')
}

/** A name for people: that of a policy as it is, that of a chain with its policies apart. */
export function policyText(name: string): string {
  if (!name.startsWith(PREFIX)) return name
  const chain = CHAINS.find((policies) => chainName(policies) === name)
  // Where the names of policies meet cannot be told of a chain that another version measured.
  return `chain ${chain?.join(', ') ?? name.slice(PREFIX.length)}`
}
