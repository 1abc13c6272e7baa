import { stringify } from 'yaml'
import type { KubernetesObject } from './object.js'

/** Characters that some YAML parsers treat as line breaks. Text after them could become fields of the object. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g

/** Returns the objects as YAML for `kubectl apply -f`. The gateway document is a literal block. */
export function objectsYaml(objects: readonly KubernetesObject[]): string {
  return objects.map(plainYaml).join('---\n')
}

/** Returns a value as YAML that all parsers read alike. Texts with several lines are literal blocks. */
export function plainYaml(value: object): string {
  const json = JSON.stringify(value, null, 2)
  // JSON is valid YAML and can escape these characters.
  if (json.search(OTHER_LINE_ENDS) >= 0) return `${json.replace(OTHER_LINE_ENDS, escapeOf)}\n`
  return stringify(value, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false })
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
