import { basename } from 'node:path'
import { parseDuration, parseSize } from '@sluice/core'
import type { EngineName, Limits } from '../../engines/script/engine.js'
import { type TextSource, textOfSource } from '../../shared/options/text-source.js'
import type { ScriptConfig } from './schema.js'

const KIB = 1024
const MIB = 1024 * 1024
const MAX_SOURCE_CHARS = 256 * KIB

/** Parsed configuration. Can be cloned. */
export interface ScriptSettings {
  /** Name of the script in logs. */
  readonly label: string
  readonly source: string
  readonly engine: EngineName | 'auto'
  readonly readsRequest: boolean
  readonly readsResponse: boolean
  readonly limits: Limits
  readonly maxBodyBytes: number
}

/** @throws Error for an unreadable file or a limit out of range. */
export function settingsOf({
  script,
  body = false,
  engine = 'auto',
  limits = {},
}: ScriptConfig): ScriptSettings {
  const { time = '20ms', memory = '16mb', stack = '128kb', body: bodyLimit = '1mb' } = limits
  return {
    label: script.file === undefined ? 'inline script' : basename(script.file),
    source: sourceOf(script),
    engine,
    readsRequest: body === true || body === 'request',
    readsResponse: body === true || body === 'response',
    limits: {
      timeoutMs: within('time', time, parseDuration(time), [1, 1000]),
      memoryBytes: within('memory', memory, parseSize(memory), [MIB, 64 * MIB]),
      stackBytes: within('stack', stack, parseSize(stack), [32 * KIB, 256 * KIB]),
    },
    maxBodyBytes: within('body', bodyLimit, parseSize(bodyLimit), [1, 4 * MIB]),
  }
}

function sourceOf(script: TextSource): string {
  const text = textOfSource(script)
  if (text.length <= MAX_SOURCE_CHARS) return text
  throw new Error(`the script is longer than ${MAX_SOURCE_CHARS} characters: shorten it, or write a plugin`)
}

function within(
  name: string,
  written: string,
  value: number,
  [least, most]: readonly [number, number],
): number {
  if (value >= least && value <= most) return value
  throw new Error(`limits.${name}: '${written}' is out of range: see gw policy doc script`)
}
