import { render } from 'preact'
import { Problem } from './components/parts.js'
import { useAddress } from './data/address.js'
import { useAnswer } from './data/answer.js'
import type { LoginMethods, Session } from './data/control-api.js'
import { Fleet } from './pages/fleet.js'
import { GroupPage } from './pages/group.js'
import { Shell } from './shell.js'

/** Titles of the pages by the first part of the address. */
const PAGES = { '': 'Fleet' }

/** The whole dashboard of a controller. */
function ControlDashboard() {
  return (
    <Shell<Session>
      pages={PAGES}
      page={({ page, id }) => {
        if (page === '' || page === 'login') return <Fleet />
        if (page === 'groups' && id !== null) return <GroupPage key={id} name={id} />
        return <p class="empty">There is no such page.</p>
      }}
      state={null}
      login={<LoginOptions />}
    />
  )
}

/** Explanations of failed logins at the provider, by their reason in the address. */
const FAILURES: Readonly<Record<string, string>> = {
  noRole: 'None of your groups has a role at this controller. Ask its administrator.',
  failed: 'The login has failed. Try again.',
  unavailable: 'The provider is not available. Try again later, or log in with a token.',
}

function LoginOptions() {
  const { page, id } = useAddress()
  const { value } = useAnswer<LoginMethods>('/v1/login-methods')
  return (
    <>
      {page === 'login' ? <Problem text={FAILURES[id ?? ''] ?? null} /> : null}
      {value?.openidConnect === true ? <a href="/v1/login">Log in with OpenID Connect</a> : null}
      <p>Log in with a token of the controller. Its role and groups decide what you can see.</p>
    </>
  )
}

render(<ControlDashboard />, document.body)
