import { isIssue } from '../diagnostic/issue.js'
import { routeJson } from '../plan/digest.js'
import type { Plan } from '../plan/plan.js'
import type { ReferenceValues } from '../reference/reference-values.js'
import { FOLDER } from '../template/folder.js'
import { asJsonText, isJsonReference, plainReference } from '../template/json-template.js'
import { parseTemplate, referencesOf } from '../template/text-template.js'
import { mapTexts, referencesIn } from './plan-text.js'

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
