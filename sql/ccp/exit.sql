-- needs: ccp/party.sql
-- Leaving the map of a ccp game by an Exit Point: 14.2.

create or replace function ccp._exit(party ccp.party, q integer, r integer)
returns table (effect text, note text)
language sql stable rows 1
as $$
  select
    case
      when count(place.id) = 0 then 'forbids'
      when bool_or(place.attributes ->> 'side' = party.side) then 'allows'
      when bool_or(place.attributes ->> 'side' is null) then 'unknown'
      else 'forbids'
    end,
    case
      when count(place.id) = 0 then 'there is no Exit Point here'
      when bool_or(place.attributes ->> 'side' = party.side)
        then format('by Exit Point %s%s', min(place.code), ', worth ' || min(place.attributes ->> 'value'))
      when bool_or(place.attributes ->> 'side' is null)
        then format('the side that may leave by Exit Point %s', min(place.code))
      else format('Exit Point %s is on its own map edge', min(place.code))
    end
  from public.map_feature_hex as at
  inner join public.map_feature as place on place.id = at.feature and place.kind = 'exit'
  where at.map_id = (party.state).map_id
    and at.q = _exit.q
    and at.r = _exit.r
    and at.role = 'at'
$$;

comment on function ccp._exit(ccp.party, integer, integer) is
'Whether a party may leave the map from a hex, and by which Exit Point (14.2.1).';
