import type { JsonObject } from '@sluice/policies/shared/json/strict-json'
import type { Assertion } from './assertion.js'
import { NAME_ID, type SamlConfig } from './schema.js'

/**
 * Converts the attributes of an assertion to claims. An attribute with one value becomes a string, with
 * several a list. Groups and roles are always lists, because a name may contain spaces ("Domain Admins"). The
 * NameID is a separate claim that attributes cannot override.
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
