import {
  type Engine,
  type PeerName,
  quickSuite,
  type RunOptions,
  type Suite,
  type SuiteCase,
  type Target,
  type Tier,
} from '@sluice/bench'
import { suggestion } from '@sluice/config'
import { parseDuration } from '@sluice/core'
import { EXIT, Failure, messageOf } from '../failure.js'
import { say } from '../output/output.js'
import type { OutputOptions } from '../program/building.js'
import { originOf } from './call.js'
import { shownCommand } from './shown-command.js'
import type { BenchTools } from './tools.js'

/** Where points take minutes a pause between them costs little; a first impression does without. */
function usualCoolDown(seconds: number): number {
  return seconds >= 60 ? 5 : 0
}

/** Latency is measured at these percentages of the throughput when nothing else is asked for. */
export const USUAL_RATES = [50, 70, 80, 90]

/** Who loads whom, and where the results go. */
export interface LoadFlags extends OutputOptions {
  readonly engine: Engine['name']
  /** In its place at saturation; absent: the same. */
  readonly saturationEngine?: Engine['name']
  readonly with?: readonly PeerName[]
  readonly out?: string
  readonly pin: boolean
  /** False: not even where the tier has one. */
  readonly memoryLimit?: boolean
  readonly failOnInvalid?: boolean
}

/** Who is loaded in place of a gateway of our own. */
export interface TargetFlags {
  /** Its address. */
  readonly target?: string
  /** The first of its processes. */
  readonly pid?: number
}

/** How long, how often, and at which rates; false: at none. */
export interface MeasuringFlags {
  readonly seconds?: number
  readonly warmUp?: number
  readonly repetitions?: number
  readonly coolDown?: number
  readonly rates?: readonly number[] | false
  /** A duration: the highest rate with a P99 below it is searched for. */
  readonly slo?: string
}

/** Which part of a suite. */
export interface ChoiceFlags {
  readonly scenario?: readonly string[]
  readonly tier?: readonly Tier[]
  readonly connections?: readonly number[]
  readonly quick?: boolean
}

/** The options of a run but for the signal, which is there when it begins. */
export type RunOrder = Omit<RunOptions, 'signal'>

/** The part of a suite that the options ask for. @throws Failure when they ask for what it does not have. */
export function chosenSuite(suite: Suite, flags: ChoiceFlags): Suite {
  const { scenario: wanted = [], tier: tiers = [], connections } = flags
  const named = ofTiers(namedCases(suite, wanted), tiers)
  // A tier that is none of the usual ones names the variants that have it.
  const cases = named.length === 0 && wanted.length === 0 ? ofTiers(suite.variants ?? [], tiers) : named
  if (cases.length === 0) {
    throw new Failure(
      EXIT.usage,
      `no scenario is left: those asked for are not of tier ${tiers.join(' or ')}; see gw bench list ${suite.name}`,
    )
  }
  const chosen = flags.quick === true ? quickSuite({ ...suite, cases }) : { ...suite, cases }
  if (connections === undefined) return chosen
  return { ...chosen, cases: chosen.cases.map(({ scenario }) => ({ scenario, connections })) }
}

function ofTiers(cases: readonly SuiteCase[], tiers: readonly Tier[]): readonly SuiteCase[] {
  if (tiers.length === 0) return cases
  return cases.filter(({ scenario }) => scenario.tier !== null && tiers.includes(scenario.tier))
}

/** The usual cases where none is named; else all that are, variants among them. `*` stands for any part of a name. */
function namedCases(suite: Suite, wanted: readonly string[]): readonly SuiteCase[] {
  if (wanted.length === 0) return suite.cases
  const known = [...suite.cases, ...(suite.variants ?? [])]
  const ids = known.map(({ scenario }) => scenario.id)
  const chosen = chosenNames(suite.name, ids, wanted)
  return known.filter(({ scenario }) => chosen.includes(scenario.id))
}

/** Those of a suite's ids that are named or match a pattern; all when nothing is. @throws Failure when nothing matches one */
export function chosenNames(
  suite: string,
  ids: readonly string[],
  wanted: readonly string[],
): readonly string[] {
  if (wanted.length === 0) return ids
  const patterns = wanted.map(patternOf)
  for (const [i, pattern] of patterns.entries()) {
    if (ids.some((id) => pattern.test(id))) continue
    const hint = suggestion(wanted[i]!, ids, `gw bench list ${suite} names them`)
    throw new Failure(EXIT.usage, `the suite '${suite}' has no scenario '${wanted[i]}'; ${hint}`)
  }
  return ids.filter((id) => patterns.some((pattern) => pattern.test(id)))
}

function patternOf(wanted: string): RegExp {
  const parts = wanted.split('*').map((part) => part.replace(/[^\w-]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}

/**
 * The order of a run, after what it needs has been found installed.
 * @param usualRates where the options say nothing of rates, in percent.
 * @throws Failure that says what is missing and what to do.
 */
export function runOrder(
  tools: BenchTools,
  suite: Suite,
  flags: LoadFlags & MeasuringFlags & ChoiceFlags & TargetFlags,
  usualRates: readonly number[],
): RunOrder {
  const engine = installedEngine(tools, flags.engine)
  const { saturationEngine } = flags
  if (saturationEngine !== undefined) installedEngine(tools, saturationEngine, '--saturation-engine')
  const peers = measurablePeers(tools, suite, flags.with ?? [])
  const sloMicros = flags.slo === undefined ? null : sloOf(tools, engine, flags.slo)
  const rates = possibleRates(tools, engine, flags.rates, usualRates)
  return {
    suite,
    engine: engine.name,
    ...(saturationEngine === undefined ? {} : { saturationEngine }),
    peers,
    ...targetOf(flags),
    warmUpSeconds: flags.warmUp ?? suite.warmUpSeconds,
    seconds: flags.seconds ?? suite.seconds,
    repetitions: flags.repetitions ?? suite.repetitions,
    coolDownSeconds: flags.coolDown ?? usualCoolDown(flags.seconds ?? suite.seconds),
    rateShares: rates.map((percent) => percent / 100),
    sloMicros,
    scenarios: flags.scenario === undefined ? [] : suite.cases.map(({ scenario }) => scenario.id),
    connections: flags.connections ?? [],
    isPinned: flags.pin,
    isMemoryLimited: flags.memoryLimit !== false,
    command: shownCommand(process.argv.slice(2)),
  }
}

function targetOf({ target, pid }: TargetFlags): { readonly target?: Target } {
  if (target !== undefined) return { target: { origin: originOf(target, '--target'), pid: pid ?? null } }
  if (pid === undefined) return {}
  throw new Failure(EXIT.usage, '--pid names the process of a --target; write its address as well')
}

/** A load generator. @throws Failure when it is not installed, with those that are. */
export function installedEngine(
  tools: BenchTools,
  name: Engine['name'],
  option: '--engine' | '--saturation-engine' = '--engine',
): Engine {
  const engine = tools.engineOf(name)
  if (engine.version() !== null) return engine
  const others = tools.engines.filter((one) => one.version() !== null).map((one) => one.name)
  throw new Failure(
    EXIT.failed,
    `the load generator '${name}' is not on the PATH; ${engine.remedy}, or write ${option} ${others.join(' or ')}`,
  )
}

function measurablePeers(tools: BenchTools, suite: Suite, peers: readonly PeerName[]): readonly PeerName[] {
  const problems = peers.map((peer) => tools.peerProblem(peer))
  const told = problems.filter((problem) => problem !== null).join('\n')
  const installed = peers.filter((_, i) => problems[i] === null)
  // Some of several are better than none; who asked for those alone waits for them.
  if (installed.length === 0 && peers.length > 0) throw new Failure(EXIT.failed, told)
  if (told !== '') say(told)
  if (peers.length > 0 && suite.cases.every(({ scenario }) => scenario.peers === null))
    say(`no scenario of this run can be asked of ${peers.join(', ')}: it is more than a plain proxy does`)
  return installed
}

/** Rates that were asked for must be possible; the usual ones are left out where they are not. */
function possibleRates(
  tools: BenchTools,
  engine: Engine,
  asked: readonly number[] | false | undefined,
  usual: readonly number[],
): readonly number[] {
  const rates = asked === false ? [] : (asked ?? usual)
  if (rates.length === 0 || engine.hasOpenLoop) return rates
  const remedy = remedyFor(tools)
  if (asked !== undefined)
    throw new Failure(
      EXIT.usage,
      `${engine.name} cannot hold a rate; ${remedy}, beside --saturation-engine ${engine.name}, or write --no-rates`,
    )
  say(
    `${engine.name} cannot hold a rate, so latency at fixed rates is not measured; ${remedy}, beside --saturation-engine ${engine.name}`,
  )
  return []
}

/** Microseconds. A search holds one rate after the other, so that not every engine can do it. */
function sloOf(tools: BenchTools, engine: Engine, text: string): number {
  if (!engine.hasOpenLoop)
    throw new Failure(
      EXIT.usage,
      `${engine.name} cannot hold a rate, which --slo needs; ${remedyFor(tools)}, beside --saturation-engine ${engine.name}, or leave out --slo`,
    )
  const slo = durationOf(text)
  if (slo > 0) return slo * 1000
  throw new Failure(EXIT.usage, '--slo: write a time above 0, such as 50ms')
}

function durationOf(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw new Failure(EXIT.usage, `--slo: ${messageOf(error)}`)
  }
}

function remedyFor({ engines }: BenchTools): string {
  const able = engines.filter((one) => one.hasOpenLoop && one.version() !== null).map(({ name }) => name)
  return `${able.join(' and ')} can`
}
