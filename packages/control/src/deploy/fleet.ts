import type { MemberFigures } from '@sluice/control-client'
import { type ControlState, groupOf, isCanary } from '../state/control-state.js'
import { MEMBER_MEMORY_MS, type MemberReport, type Reports } from '../store/control-store.js'

/** Time without a report after which a controller counts as dead, in milliseconds. */
export const CONTROLLER_TIMEOUT_MS = 10_000

/** A known member. */
export interface KnownMember extends MemberReport {
  /** Milliseconds since its last report. */
  readonly ageMs: number
}

/**
 * Merges the reports of all controllers with the members of this one, which are up to date. Members of dead controllers
 * count as away.
 */
export function knownMembers(reports: Reports, own: readonly MemberReport[], self: string): KnownMember[] {
  const members = new Map<string, KnownMember>()
  for (const report of reports.members) {
    if (report.ageMs > MEMBER_MEMORY_MS) continue
    const controllerAgeMs = reports.controllers.get(report.controller) ?? Number.POSITIVE_INFINITY
    const isConnected =
      report.isConnected && report.controller !== self && controllerAgeMs <= CONTROLLER_TIMEOUT_MS
    members.set(`${report.group}/${report.member}`, { ...report, isConnected })
  }
  for (const report of own) members.set(`${report.group}/${report.member}`, { ...report, ageMs: 0 })
  return [...members.values()]
}

/** A member as the API shows it. */
export interface FleetMember {
  readonly member: string
  readonly name: string
  readonly group: string
  readonly version: string
  readonly adminUrl: string | null
  /**
   * `inSync`: serves the committed bundle. `drifted`: serves another one, see `reason`. `away`: not connected.
   * `unmanaged`: the group has no committed bundle. `canary`: serves the bundle of a pending deploy before the others.
   */
  readonly status: 'inSync' | 'drifted' | 'away' | 'unmanaged' | 'canary'
  readonly reason: string | null
  readonly digest: string | null
  readonly deploy: number
  /** Number of committed deploys that the member has not activated. */
  readonly lagDeploys: number
  readonly isReady: boolean
  readonly workers: number
  readonly clockDifferenceMs: number
  readonly figures: MemberFigures | null
  readonly controller: string
  readonly seenAgoMs: number
}

/** Describes known members. */
export function fleetOf(state: ControlState, members: readonly KnownMember[]): FleetMember[] {
  return members.map((known) => {
    const { member, name, group, version, adminUrl, controller, clockDifferenceMs } = known
    const ofGroup = groupOf(state, group)
    const { head, deploys, pending } = ofGroup
    const { digest, deploy, isReady, workers, figures } = known.state
    const isTrial = isCanary(ofGroup, member) && digest === pending!.digest
    const isInSync = digest === head?.digest && known.state.drift === undefined
    const managed = isTrial ? 'canary' : isInSync ? 'inSync' : 'drifted'
    const status = !known.isConnected ? 'away' : head === null ? 'unmanaged' : managed
    const newer = deploys.filter((one) => one.status === 'committed' && one.deploy > deploy)
    return {
      ...{ member, name, group, version, adminUrl, status, reason: reasonOf(known, status), digest, deploy },
      ...{ lagDeploys: isInSync ? 0 : newer.length, isReady, workers, clockDifferenceMs, figures },
      ...{ controller, seenAgoMs: Math.round(known.ageMs) },
    }
  })
}

function reasonOf({ state, driftReason }: KnownMember, status: FleetMember['status']): string | null {
  if (status === 'away') return 'not connected'
  if (status === 'drifted' && (state.drift ?? driftReason) !== null) return state.drift ?? driftReason
  return state.reason ?? (status === 'drifted' ? 'the committed bundle is being transferred' : null)
}
