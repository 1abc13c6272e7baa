import { type DocumentPath, formatPath } from '../diagnostic/document-path.js'
import type { Document } from '../schema/document.js'
import type { Inspection } from './inspection.js'

type PrivacyDocument = NonNullable<Document['log']['privacy']>

const SHAPES = ['keepFirst', 'keepLast', 'maskFirst'] as const

/**
 * Checks the privacy rules of the traffic log: unique ids, required keys, and mask settings only for masks.
 */
export function checkLogPrivacy(inspection: Inspection): void {
  const { log } = inspection.document
  checkPrivacy(inspection, log.privacy, ['log', 'privacy'])
  for (const [target, path] of inspection.origins.entries(log.outputs, ['log', 'outputs']))
    checkPrivacy(inspection, target.privacy, [...path, 'privacy'])
}

function checkPrivacy(
  inspection: Inspection,
  privacy: PrivacyDocument | undefined,
  path: DocumentPath,
): void {
  if (privacy === undefined) return
  checkIds(inspection, privacy.keys, [...path, 'keys'])
  checkIds(inspection, privacy.rules, [...path, 'rules'])
  checkRules(inspection, privacy, path)
}

function checkIds(
  { origins, report }: Inspection,
  items: readonly { readonly id: string }[],
  list: DocumentPath,
): void {
  const seen = new Set<string>()
  for (const [{ id }, path] of origins.entries(items, list)) {
    const location = [...path, 'id']
    if (seen.has(id)) {
      const message = `two privacy ${list.at(-1)} have the id ${report.quote(id, location)}`
      report.add({ path: location, message, remedy: 'rename one of them' })
    }
    seen.add(id)
  }
}

function checkRules(
  { origins, report }: Inspection,
  { keys, rules }: PrivacyDocument,
  location: DocumentPath,
): void {
  const hasKeys = keys.length > 0 || !report.isValid([...location, 'keys'])
  for (const [rule, path] of origins.entries(rules, [...location, 'rules'])) {
    if ((rule.do === 'hash' || rule.do === 'encrypt') && !hasKeys) {
      report.add({
        path: [...path, 'do'],
        message: `the privacy rule ${quoted(report, rule.id, path)} needs a key to ${rule.do}`,
        remedy: `add ${formatPath(location)}.keys: [{ id: k1, secret: '\${env:LOG_KEY}' }]`,
      })
    }
    const shape = SHAPES.find((name) => rule[name] !== undefined)
    if (shape === undefined || rule.do === 'mask') continue
    report.add({
      path: [...path, shape],
      message: `${shape} needs do: mask, but the privacy rule ${quoted(report, rule.id, path)} has do: ${rule.do}`,
      remedy: `remove ${shape} or write do: mask`,
    })
  }
}

function quoted(report: Inspection['report'], id: string, path: DocumentPath): string {
  return report.quote(id, [...path, 'id'])
}
