import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Delivery, LogTarget, ReportProblem, Shipment } from '../target.js'
import { readDelivery } from './delivery.js'
import type { CustomOptions } from './options.js'

/** What a module exports as its default. */
export type OpenCustomTarget = (
  options: Readonly<Record<string, unknown>>,
  report: ReportProblem,
) => LogTarget | Promise<LogTarget>

/** A delivery that has not ended by then counts as failed, so that the log goes on to be tried, ms. */
const DELIVERY_MS = 120_000

/**
 * A target out of a module. Whatever goes wrong in it is reported as an outage: the records wait, and neither the thread
 * nor the worker ends.
 */
export class CustomTarget implements LogTarget {
  readonly #options: CustomOptions
  readonly #report: ReportProblem
  #target: Promise<LogTarget> | null = null

  constructor(options: CustomOptions, report: ReportProblem) {
    this.#options = options
    this.#report = report
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    try {
      const target = await this.#opened()
      return readDelivery(await inTime(target.deliver(shipment)), shipment.count)
    } catch (error) {
      const reason = `the target '${this.#options.module}' fails: ${textOf(error)}`
      return { kind: 'failed', overload: false, reason }
    }
  }

  async close(): Promise<void> {
    try {
      await (await this.#target)?.close()
    } catch (error) {
      this.#report(`the target '${this.#options.module}' cannot be closed: ${textOf(error)}`)
    }
  }

  /** Until it succeeds. */
  #opened(): Promise<LogTarget> {
    this.#target ??= this.#open().catch((error: unknown) => {
      this.#target = null
      throw error
    })
    return this.#target
  }

  async #open(): Promise<LogTarget> {
    const { module, options } = this.#options
    const open = await loadCustomTarget(this.#options)
    const target = await open(options, this.#report)
    if (typeof target?.deliver !== 'function' || typeof target.close !== 'function')
      throw new Error(`'${module}' opens something without deliver and close`)
    return target
  }
}

/** Loads the module of a target, and opens nothing. @throws Error when it is not there or exports no function. */
export async function loadCustomTarget(
  options: Pick<CustomOptions, 'module' | 'from'>,
): Promise<OpenCustomTarget> {
  const exported: unknown = await import(placeOf(options))
  const open = (exported as { readonly default?: unknown }).default
  if (typeof open === 'function') return open as OpenCustomTarget
  throw new Error(`'${options.module}' has no function as its default export`)
}

/** A package may have no entry that `require` accepts; it is found from here then. */
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
  return error instanceof Error ? error.message : String(error)
}
