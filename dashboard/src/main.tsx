/** The page begins here: take a key that came with the address, then show what there is. */
import 'uplot/dist/uPlot.min.css'
import './style/base.css'
import './style/layout.css'
import './style/parts.css'
import './style/lists.css'
import './style/forms.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.js'
import { takeKeyFromAddress } from './session.js'

takeKeyFromAddress()
// A link with a key, followed in a tab that is here already, changes nothing but the fragment.
addEventListener('hashchange', () => {
  if (takeKeyFromAddress()) location.reload()
})

const place = document.querySelector('#page')
if (place) {
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
