import type { RoutePlan } from '@sluice/config'
import { compareRanks, routeRank } from '@sluice/config/serving'
import { sortInSteps } from '../lib/sort-in-steps.js'
import type { Candidate } from './candidate.js'

/** A route under one of its host patterns; the host is null for a route that serves every host. */
export interface Placement<T> {
  readonly candidate: Candidate<T>
  readonly host: string | null
}

interface Ranked<T> extends Placement<T> {
  readonly rank: readonly number[]
  readonly shape: string
}

/** Number of elements at the end of a route's rank that do not concern priority, host and path (see routeRank). */
const PREDICATES_AND_ORDER = 2

/**
 * Lists every route under each of its hosts, in order of precedence. The ranks of the configuration decide (see
 * routeRank). Among equal ranks, the path whose literal segments are further left wins, then the order of the
 * candidates.
 * @param forHead order for HEAD requests: among routes with the same host pattern and path, those that name HEAD come
 * first.
 */
export function* sortByPrecedence<T>(
  candidates: readonly Candidate<T>[],
  forHead: boolean,
): Generator<void, Placement<T>[]> {
  const placements: Ranked<T>[] = []
  for (const candidate of candidates) {
    for (const placement of placementsOf(candidate)) placements.push(placement)
    yield
  }
  return yield* sortInSteps(placements, forHead ? compareForHead : compare)
}

/** Returns true if HEAD requests need a separate order. */
export function hasHeadRoute<T>(candidates: readonly Candidate<T>[]): boolean {
  return candidates.some(({ plan }) => namesHead(plan))
}

function placementsOf<T>(candidate: Candidate<T>): Ranked<T>[] {
  const { hosts } = candidate.plan.match
  const shape = shapeOf(candidate.plan)
  const patterns: readonly (string | null)[] = hosts.length === 0 ? [null] : hosts
  return patterns.map((host) => ({ candidate, host, rank: routeRank(candidate.plan, host), shape }))
}

/** Returns one letter per segment, so that string comparison puts literals on the left first: `lp` before `pl`. */
function shapeOf(plan: RoutePlan): string {
  return plan.match.path.segments.map((segment) => (segment.kind === 'literal' ? 'l' : 'p')).join('')
}

function compare<T>(a: Ranked<T>, b: Ranked<T>): number {
  return compareRanks(a.rank, b.rank) || compareShapes(a.shape, b.shape)
}

function compareForHead<T>(a: Ranked<T>, b: Ranked<T>): number {
  return compareRanks(hostAndPathRank(a), hostAndPathRank(b)) || headFirst(a) - headFirst(b) || compare(a, b)
}

function hostAndPathRank<T>(ranked: Ranked<T>): readonly number[] {
  return ranked.rank.slice(0, -PREDICATES_AND_ORDER)
}

function headFirst<T>(ranked: Ranked<T>): number {
  return namesHead(ranked.candidate.plan) ? 0 : 1
}

function namesHead(plan: RoutePlan): boolean {
  return plan.match.methods.includes('HEAD')
}

function compareShapes(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
