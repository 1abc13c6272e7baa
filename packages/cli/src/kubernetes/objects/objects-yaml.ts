import { stringify } from 'yaml'
import type { KubernetesObject } from './object.js'

/** What other readers of YAML take for the end of a line, so that text after it would count as members of the object. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g

/** Objects as `kubectl apply -f` takes them: one document each, the text of the gateway's own document as it is. */
export function objectsYaml(objects: readonly KubernetesObject[]): string {
  const options = { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false } as const
  return objects
    .map((object) => {
      const json = JSON.stringify(object, null, 2)
      // JSON is YAML, and has escapes for them.
      if (json.search(OTHER_LINE_ENDS) >= 0) return `${json.replace(OTHER_LINE_ENDS, escapeOf)}\n`
      return stringify(object, options)
    })
    .join('---\n')
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
