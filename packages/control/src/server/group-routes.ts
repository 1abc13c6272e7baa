import { type Static, Type } from '@sluice/core'
import { groupOf } from '../state/control-state.js'
import { mayUseGroup, requireGroup } from './access.js'
import { type ApiBackend, authorOf, endpoint, membersOf, type Routes } from './api.js'
import { ControlProblem } from './problem.js'
import { GroupParams, GroupView, MemberParams, MembersQuery, MemberView } from './schemas.js'

/** Endpoints for groups and members. */
export const groupRoutes: Routes = (app, backend) => {
  const { log, fleet } = backend
  app.get(
    '/v1/groups',
    endpoint('viewer', { summary: 'Groups', response: Type.Object({ groups: Type.Array(GroupView) }) }),
    async ({ caller }) => {
      const names = new Set([...log.state.groups.keys(), ...membersOf(backend).map(({ group }) => group)])
      const visible = [...names].filter((name) => mayUseGroup(caller, name)).sort()
      return { groups: visible.map((name) => groupView(backend, name)) }
    },
  )
  app.get<{ Params: Static<typeof GroupParams> }>(
    '/v1/groups/:group',
    endpoint('viewer', {
      summary: 'A group. The ETag is the digest of its committed bundle.',
      params: GroupParams,
      response: GroupView,
    }),
    async ({ params: { group } }, reply) => {
      const view = groupView(backend, group)
      if (view.head !== null) reply.header('etag', `"${view.head.digest}"`)
      return view
    },
  )
  app.get<{ Querystring: Static<typeof MembersQuery> }>(
    '/v1/members',
    endpoint('viewer', {
      summary: 'Members of all groups or of one, with drift and its reason',
      querystring: MembersQuery,
      response: Type.Object({ members: Type.Array(MemberView) }),
    }),
    async ({ caller, query }) => {
      if (query.group !== undefined) requireGroup(caller, query.group)
      const members = membersOf(backend).filter(
        ({ group }) => mayUseGroup(caller, group) && (query.group ?? group) === group,
      )
      return { members }
    },
  )
  app.delete<{ Params: Static<typeof MemberParams> }>(
    '/v1/groups/:group/members/:member',
    endpoint('admin', {
      summary: 'Forgets a member that was removed, so that quorums do not count it',
      params: MemberParams,
    }),
    async (request, reply) => {
      const { group, member } = request.params
      const known = membersOf(backend).find((one) => one.group === group && one.member === member)
      if (known === undefined) throw new ControlProblem('GW_CONTROL_NOT_FOUND', 'there is no such member')
      if (known.status !== 'away')
        throw new ControlProblem(
          'GW_CONTROL_BAD_REQUEST',
          'the member is connected; stop it or revoke its token first',
        )
      await log.append(authorOf(request), () => ({ type: 'member.forgotten', group, member }))
      await fleet.forget(group, member)
      return reply.code(204).send()
    },
  )
}

function groupView(backend: ApiBackend, name: string) {
  const { head, pending } = groupOf(backend.log.state, name)
  const members = membersOf(backend).filter(({ group }) => group === name)
  const connected = members.filter(({ status }) => status !== 'away')
  const inSync = members.filter(({ status }) => status === 'inSync')
  return {
    ...{ name, head, pending, canary: backend.coordinator.canaryOf(name) },
    ...{ members: members.length, connected: connected.length, inSync: inSync.length },
  }
}
