import { routeJson } from '../digest.js'
import { isIssue } from '../issue.js'
import type { Plan } from '../plan.js'
import { mapTexts, referencesIn } from '../plan-text.js'
import { FOLDER } from './folder.js'
import { asJsonText, isJsonReference, plainReference } from './json-template.js'
import type { ReferenceValues } from './reference-values.js'
import { parseTemplate, referencesOf } from './text-template.js'

/** Returns the values of the references in a plan, by reference. */
export function valuesOf(plan: Plan, values: ReferenceValues): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const routes = plan.routes.filter((route) => routeJson(route).includes('${'))
  mapTexts({ ...plan, routes }, (text) => {
    for (const reference of referencesIn(text)) found[reference] ??= valueIn(reference, values)
    return text
  })
  return found
}

function valueIn(text: string, values: ReferenceValues): string {
  if (text === FOLDER) return values.folder
  const template = parseTemplate(plainReference(text))
  const reference = isIssue(template) ? undefined : referencesOf(template)[0]
  const value = reference === undefined ? undefined : values.of(reference)
  if (typeof value !== 'string') throw new Error('unchecked reference in the plan')
  return isJsonReference(text) ? asJsonText(value) : value
}
