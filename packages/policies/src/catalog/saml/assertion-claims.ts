import type { JsonObject } from '../../engines/json/strict-json.js'
import type { Assertion } from './assertion.js'
import { NAME_ID, type SamlConfig } from './schema.js'

/**
 * An attribute of one value is a text, one of several a list; groups and roles always are, because their names may have
 * spaces: "Domain Admins" is one. The NameID is no attribute, whatever these are called.
 */
export function claimsOf(
  { nameId, attributes }: Assertion,
  { groupsClaim, rolesClaim }: Pick<SamlConfig, 'groupsClaim' | 'rolesClaim'>,
): JsonObject {
  const isList = (name: string): boolean => name === groupsClaim || name === rolesClaim
  const values = new Map<string, string[]>()
  for (const [name, texts] of attributes) values.set(name, [...(values.get(name) ?? []), ...texts])
  const claims = [...values].map(
    ([name, texts]) => [name, texts.length === 1 && !isList(name) ? texts[0] : texts] as const,
  )
  return Object.fromEntries([...claims, [NAME_ID, nameId]])
}
