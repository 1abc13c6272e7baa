import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf } from '@sluice/core'
import type { Delivery, LogOutput, ReportProblem, Shipment } from '../output.js'
import { readDelivery } from './delivery.js'

/** Options for an output implemented by a module. */
export interface CustomOptions {
  /** Package name, or module path that starts with `.` or `/`. */
  readonly module: string
  /** Directory from which the module is resolved. */
  readonly from: string
  /** Options passed to the module unchanged. */
  readonly options: Readonly<Record<string, unknown>>
}

/** Default export of an output module. */
export type OpenCustomOutput = (
  options: Readonly<Record<string, unknown>>,
  report: ReportProblem,
) => LogOutput | Promise<LogOutput>

/** Timeout for a delivery in milliseconds. It then counts as failed and is retried. */
const DELIVERY_MS = 120_000

/**
 * Output implemented by a module. Errors in the module are reported as an outage: records wait, and the
 * thread and the worker keep running.
 */
export class CustomOutput implements LogOutput {
  readonly #options: CustomOptions
  readonly #report: ReportProblem
  #output: Promise<LogOutput> | null = null

  constructor(options: CustomOptions, report: ReportProblem) {
    this.#options = options
    this.#report = report
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    try {
      const output = await this.#opened()
      return readDelivery(await inTime(output.deliver(shipment)), shipment.count)
    } catch (error) {
      const reason = `the target '${this.#options.module}' failed: ${textOf(error)}`
      return { kind: 'failed', overload: false, reason }
    }
  }

  async close(): Promise<void> {
    try {
      await (await this.#output)?.close()
    } catch (error) {
      this.#report(`the target '${this.#options.module}' cannot be closed: ${textOf(error)}`)
    }
  }

  /** Opens the output. Retries on the next call if it fails. */
  #opened(): Promise<LogOutput> {
    this.#output ??= this.#open().catch((error: unknown) => {
      this.#output = null
      throw error
    })
    return this.#output
  }

  async #open(): Promise<LogOutput> {
    const { module, options } = this.#options
    const open = await loadCustomOutput(this.#options)
    const output = await open(options, this.#report)
    if (typeof output?.deliver !== 'function' || typeof output.close !== 'function')
      throw new Error(`'${module}' returned a target without deliver or close`)
    return output
  }
}

/**
 * Loads the module of an output without opening it. @throws Error if the module is missing or its default
 * export is not a function.
 */
export async function loadCustomOutput(
  options: Pick<CustomOptions, 'module' | 'from'>,
): Promise<OpenCustomOutput> {
  const exported: unknown = await import(placeOf(options))
  const open = (exported as { readonly default?: unknown }).default
  if (typeof open === 'function') return open as OpenCustomOutput
  throw new Error(`the default export of '${options.module}' is not a function`)
}

/**
 * Resolves a module to a URL. If a package has no entry for `require`, its name is returned and import
 * resolves it from here.
 */
function placeOf({ module, from }: Pick<CustomOptions, 'module' | 'from'>): string {
  if (/^\.{0,2}\//.test(module)) return pathToFileURL(resolve(from, module)).href
  try {
    return pathToFileURL(createRequire(resolve(from, 'from.js')).resolve(module)).href
  } catch {
    return module
  }
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no delivery within ${DELIVERY_MS} ms`)), DELIVERY_MS)
    timer.unref()
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

function textOf(error: unknown): string {
  return messageOf(error)
}
