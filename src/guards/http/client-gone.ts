/**
 * A client that went away before its handler began, while the claim was on its way. Nothing has happened, so nothing
 * does: the key is given back, and the retry that such a client sends is the one that runs. A client that goes
 * later, when the handler has begun, changes nothing any more.
 */
import { NotExecuted } from '../../core/errors.js'

export function clientGone(): NotExecuted {
  return new NotExecuted('the client went away before the handler began', { code: 'CLIENT_GONE' })
}
