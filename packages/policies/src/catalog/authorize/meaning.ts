import type { AuthorizeConfig, RuleConfig } from './schema.js'

/** Names of a list that are written out; more are counted. */
const MAX_NAMES = 10

/** Whom a configuration of `authorize` lets in, in sentences. */
export function meaningOf({ allow, deny = [], phase, dryRun }: AuthorizeConfig): readonly string[] {
  return [
    ...(dryRun === true ? ['refuses nobody (dryRun); without that it'] : []),
    ...(phase === 'body' ? ['decides once the whole body is there'] : []),
    ...deny.map((rule) => `refuses who ${ruleText(rule)}`),
    ...(allow === 'authenticated'
      ? ['lets in everybody who is authenticated']
      : [...allow.map((rule) => `lets in who ${ruleText(rule)}`), 'refuses all others']),
  ]
}

function ruleText({
  consumers,
  groups,
  roles,
  scopes,
  claims = {},
  when,
  match = 'any',
}: RuleConfig): string {
  const word = match === 'all' ? 'and' : 'or'
  return [
    ...(consumers === undefined ? [] : [`has the id ${listText(consumers, 'or')}`]),
    ...(groups === undefined ? [] : [`is in the group ${listText(groups, word)}`]),
    ...(roles === undefined ? [] : [`has the role ${listText(roles, word)}`]),
    ...(scopes === undefined ? [] : [`has the scope ${listText(scopes, 'and')}`]),
    ...Object.entries(claims).map(([name, value]) => claimText(name, [value].flat())),
    ...(when === undefined ? [] : [`meets ${when}`]),
  ].join(', and ')
}

function claimText(name: string, values: readonly string[]): string {
  return values.length === 0 ? `has the claim ${name}` : `has the claim ${name} of ${listText(values, 'or')}`
}

function listText(names: readonly string[], word: 'and' | 'or'): string {
  const rest = names.length - MAX_NAMES
  const shown = [...names.slice(0, MAX_NAMES), ...(rest > 0 ? [`${rest} more`] : [])]
  return shown.join(` ${word} `)
}
