import { displayPlan, type ListenerPlan } from '@sluice/config'
import { formatSize } from '@sluice/core'
import { ABILITIES } from '@sluice/gateway'
import { catalog } from '@sluice/policies'
import { loadFile } from '../input/document.js'
import type { DocumentOptions, OutputOptions } from '../input/options.js'
import { print, printResult, printTable } from '../output/output.js'
import { durationText } from '../output/text.js'

/** Prints the features and settings of the listeners of a document. */
export async function explainListener(options: DocumentOptions & OutputOptions): Promise<void> {
  const { plan } = await loadFile(options.config)
  const { listeners: shown } = displayPlan(plan, catalog)
  const listeners = shown.map((listener) => ({
    address: listener.address,
    engine: listener.engine,
    tls: listener.tls !== null,
    settings: settingsOf(listener),
    abilities: Object.fromEntries(ABILITIES.map((ability) => [ability.what, ability[listener.engine]])),
  }))
  await printResult({ listeners }, options.output, () => {
    for (const { address, engine, tls, settings, abilities } of listeners) {
      print(`${address}  engine: ${engine}${tls ? ', TLS' : ''}`)
      printTable(['FEATURE', 'SUPPORT'], Object.entries(abilities))
      const rows = Object.entries(settings).map(([key, value]) => [key, withUnit(key, value)])
      printTable(['SETTING', 'VALUE'], rows)
    }
  })
}

/** Returns the settings by key, including defaults. */
function settingsOf({
  address,
  host,
  port,
  engine,
  ...settings
}: ListenerPlan): Readonly<Record<string, string>> {
  return Object.fromEntries(settingRows('', settings))
}

function settingRows(prefix: string, settings: object): (readonly [string, string])[] {
  return Object.entries(settings).flatMap(([key, value]: [string, unknown]) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return settingRows(`${prefix}${key}.`, value)
    const isTime = key.endsWith('Ms') && typeof value === 'number'
    return [
      [
        prefix + (isTime ? key.slice(0, -2) : key),
        isTime ? durationText(value) : settingText(value),
      ] as const,
    ]
  })
}

/** Formats sizes and rates for people. JSON has the number of bytes. */
function withUnit(key: string, value: string): string {
  if (/(Bytes|\.bodyBufferBytes)$/.test(key)) return formatSize(Number(value))
  if (!key.endsWith('Rate')) return value
  return value === '0' ? 'none' : `${formatSize(Number(value))}/s`
}

function settingText(value: unknown): string {
  if (value === null) return '-'
  if (!Array.isArray(value)) return String(value)
  return value.length === 0
    ? '-'
    : value.map((item) => (typeof item === 'object' ? JSON.stringify(item) : String(item))).join(', ')
}
