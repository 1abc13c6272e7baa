import type { BodyLanguage, BodyLanguages } from '@sluice/core'
import { type ConditionScope, checkCondition } from '../condition/index.js'
import { type DocumentPath, isMapping, listAt, valueAt } from '../diagnostic/document-path.js'
import { chainPaths } from '../schema/policy-uses.js'
import type { Inspection } from './inspection.js'

/** Checks the paths into bodies in conditions, if their query languages are loaded. */
export function checkBodyPaths({ whole, catalog, report }: Inspection): void {
  if (catalog.bodies === undefined) return
  for (const [path, scope] of conditionLocations(whole)) {
    const text = valueAt(whole, path)
    if (typeof text !== 'string' || !report.isValid(path) || !canCheck(text, catalog.bodies)) continue
    const check = checkCondition(text, scope, { bodies: catalog.bodies })
    if (!check.ok) report.add({ path, message: check.message, remedy: check.remedy })
  }
}

/** True if a condition reads bodies, and all its query languages are loaded. */
function canCheck(text: string, bodies: BodyLanguages): boolean {
  const asked = Object.entries(bodies).filter(([kind]) => text.includes(`req.body.${kind}`))
  return asked.length > 0 && asked.every(([, language]: [string, BodyLanguage]) => language.isLoaded)
}

function conditionLocations(whole: unknown): [DocumentPath, ConditionScope][] {
  const routes = listAt(whole, ['routes'])
  return [
    ...routes.map((_, i): [DocumentPath, ConditionScope] => [['routes', i, 'match', 'when'], 'route']),
    ...chainPaths(whole).flatMap((path) => policyLocations(whole, path)),
  ]
}

function policyLocations(whole: unknown, path: DocumentPath): [DocumentPath, ConditionScope][] {
  return listAt(whole, path).flatMap((entry, i): [DocumentPath, ConditionScope][] =>
    isMapping(entry) ? [[[...path, i, 'when'], 'policy']] : [],
  )
}
