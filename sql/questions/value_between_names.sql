-- Who sent how much TON to whom, by the names of the accounts?
WITH names AS (
  SELECT address, domain FROM address_book WHERE domain IS NOT NULL
)
SELECT coalesce(sender.domain, 'others') AS sender, coalesce(receiver.domain, 'others') AS receiver, count(*) AS messages, ton(sum(value)) AS value
FROM messages
LEFT JOIN names AS sender ON sender.address = source
LEFT JOIN names AS receiver ON receiver.address = destination
WHERE direction = 'in' AND value > 0 AND (sender.domain IS NOT NULL OR receiver.domain IS NOT NULL)
GROUP BY ALL
ORDER BY value DESC, sender, receiver
LIMIT 10
