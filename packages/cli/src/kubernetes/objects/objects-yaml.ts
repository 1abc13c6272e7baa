import { stringify } from 'yaml'
import type { KubernetesObject } from './object.js'

/** Objects as `kubectl apply -f` takes them: one document each, the text of the gateway's own document as it is. */
export function objectsYaml(objects: readonly KubernetesObject[]): string {
  const options = { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false } as const
  return objects.map((object) => stringify(object, options)).join('---\n')
}
