import type { Static } from '@sinclair/typebox'
import type { authorizeSchema, RuleConfig } from './schema.js'

/** Maximum number of names written out. The rest is counted. */
const MAX_NAMES = 10

/** Explains in words whom a configuration of `authorize` allows. */
export function explainAuthorization({
  allow,
  deny = [],
  phase,
  dryRun,
}: Static<typeof authorizeSchema>): readonly string[] {
  return [
    ...(dryRun === true ? ['denies no request (dryRun); without dryRun it'] : []),
    ...(phase === 'body' ? ['decides when the whole request body has been received'] : []),
    ...deny.map((rule) => `denies callers ${ruleText(rule)}`),
    ...(allow === 'authenticated'
      ? ['allows all authenticated callers']
      : [...allow.map((rule) => `allows callers ${ruleText(rule)}`), 'denies all other callers']),
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
    ...(consumers === undefined ? [] : [`with the id ${listText(consumers, 'or')}`]),
    ...(groups === undefined ? [] : [`in the group ${listText(groups, word)}`]),
    ...(roles === undefined ? [] : [`with the role ${listText(roles, word)}`]),
    ...(scopes === undefined ? [] : [`with the scope ${listText(scopes, 'and')}`]),
    ...Object.entries(claims).map(([name, value]) => claimText(name, [value].flat())),
    ...(when === undefined ? [] : [`that meet ${when}`]),
  ].join(', and ')
}

function claimText(name: string, values: readonly string[]): string {
  return values.length === 0
    ? `with the claim ${name}`
    : `with the claim ${name} equal to ${listText(values, 'or')}`
}

function listText(names: readonly string[], word: 'and' | 'or'): string {
  const rest = names.length - MAX_NAMES
  const shown = [...names.slice(0, MAX_NAMES), ...(rest > 0 ? [`${rest} more`] : [])]
  return shown.join(` ${word} `)
}
