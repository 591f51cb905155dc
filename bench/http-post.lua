-- The requests of the HTTP benchmark: a refund of about 300 bytes, each with a key of its own, or (argument "same")
-- a thousand keys over and over.
local body = '{"payment":"pay_8123","amount":14000,"currency":"INR","customer":{"id":"cus_8123","country":"IN"},'
  .. '"reason":"requested_by_customer","note":"refunded at the request of the customer after the second parcel '
  .. 'was lost on its way; agreed by phone","items":3}'
local head = 'POST /refunds HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: ' .. #body
local count = 0
local prefix, same

function init(args)
  local random = io.open('/dev/urandom', 'rb')
  prefix = random:read(12):gsub('.', function(byte) return string.format('%02x', byte:byte()) end)
  random:close()
  same = args[1] == 'same'
end

function request()
  count = count + 1
  local key = same and 'same-' .. count % 1000 or prefix .. '-' .. count
  return head .. '\r\nIdempotency-Key: "' .. key .. '"\r\n\r\n' .. body
end
