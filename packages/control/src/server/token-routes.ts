import { randomUUID } from 'node:crypto'
import { routePrefixProblem, type TeamScope } from '@sluice/config'
import { type Static, Type } from '@sluice/core'
import type { Token } from '../state/control-state.js'
import type { Role } from '../store/log-entry.js'
import { newToken, requireAllGroups } from './access.js'
import { authorOf, endpoint, type Routes } from './api.js'
import { ControlProblem } from './problem.js'
import { TokenBody, TokenParams, TokenView } from './schemas.js'

/** Endpoints for tokens. An admin of some groups only may not use them: a token for more groups would be easy to get. */
export const tokenRoutes: Routes = (app, { log }) => {
  app.get(
    '/v1/tokens',
    endpoint('admin', { summary: 'Tokens', response: Type.Object({ tokens: Type.Array(TokenView) }) }),
    async ({ caller }) => {
      requireAllGroups(caller)
      return { tokens: [...log.state.tokens.values()].map(view) }
    },
  )
  app.post<{ Body: Static<typeof TokenBody> }>(
    '/v1/tokens',
    endpoint('admin', {
      summary: 'Creates a token. Only this response contains its text.',
      body: TokenBody,
      response: Type.Object({ text: Type.String(), ...TokenView.properties }),
    }),
    async (request) => {
      requireAllGroups(request.caller)
      const { name, role, groups, scope } = request.body
      if (scope !== undefined) checkScope(role, scope)
      const { text, sha256 } = newToken()
      const token = randomUUID()
      await log.append(authorOf(request), ({ tokens }) => {
        if ([...tokens.values()].some((known) => known.name === name && !known.isRevoked))
          throw new ControlProblem(
            'GW_CONTROL_BAD_REQUEST',
            `there is a token '${name}'; choose another name`,
          )
        return {
          type: 'token.created',
          token,
          name,
          role,
          groups,
          sha256,
          ...(scope === undefined ? {} : { scope }),
        }
      })
      return { text, ...view(log.state.tokens.get(token)!) }
    },
  )
  app.delete<{ Params: Static<typeof TokenParams> }>(
    '/v1/tokens/:token',
    endpoint('admin', { summary: 'Revokes a token. Its gateways are disconnected.', params: TokenParams }),
    async (request, reply) => {
      requireAllGroups(request.caller)
      const { token } = request.params
      await log.append(authorOf(request), ({ tokens }) => {
        if (tokens.get(token)?.isRevoked !== false)
          throw new ControlProblem('GW_CONTROL_NOT_FOUND', 'there is no such token')
        return { type: 'token.revoked', token }
      })
      return reply.code(204).send()
    },
  )
}

/** @throws ControlProblem if a token must not have the scope */
function checkScope(role: Role, { routes }: TeamScope): void {
  const problem =
    role === 'deployer' ? routes.map(routePrefixProblem).find(Boolean) : 'only deployers can have a team'
  if (problem) throw new ControlProblem('GW_CONTROL_BAD_REQUEST', problem)
}

function view({ sha256: _, ...shown }: Token) {
  return shown
}
