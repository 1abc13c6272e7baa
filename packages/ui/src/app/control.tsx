import { render } from 'preact'
import type { Session } from './data/control-api.js'
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
        if (page === '') return <Fleet />
        if (page === 'groups' && id !== null) return <GroupPage key={id} name={id} />
        return <p class="empty">There is no such page.</p>
      }}
      state={null}
      login={<p>Log in with a token of the controller. Its role and groups decide what you can see.</p>}
    />
  )
}

render(<ControlDashboard />, document.body)
