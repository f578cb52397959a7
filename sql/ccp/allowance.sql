-- needs: ccp/party.sql
-- What is left of a move under way, and what an exit brings: O29, 14.2.2.

create or replace function ccp.allowance(
  position_id bigint, unit text, together text[], conditions jsonb default null, policy jsonb default null
)
returns integer
language plpgsql stable
as $$
declare
  state positions.state;
  party ccp.party;
  led integer;
begin
  select * into state from positions.state(allowance.position_id, allowance.conditions, allowance.policy);
  party := ccp._party(state, allowance.unit, jsonb_build_object('with', coalesce(allowance.together, '{}')));
  select coalesce(sum(post.led), 0) into led
  from ccp._posts(party) as post
  where post.q = party.q and post.r = party.r;
  return ccp._allowance(party, led);
end
$$;

comment on function ccp.allowance(bigint, text, text[], jsonb, jsonb) is
'The movement of those who go together, where they stand now, in halves; null where a counter does not tell it (O29).';

create or replace function ccp.exit_points(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    '14.2.2',
    null,
    hex.label,
    coalesce(worth.value::text, 'untold'),
    case
      when unit.kind = 'hero' then format('%s is a Hero', unit.code)
      else format('the Exit Point of %s%s', hex.label, case when chit.more > 0 then ', and the chit for exits' else '' end)
    end,
    case when unit.kind = 'hero' and chit.more > 0 then 'ccp-22' end,
    null,
    null::integer,
    jsonb_build_object('value', worth.value)
  from positions.state(exit_points.position_id, exit_points.conditions, exit_points.policy) as state
  inner join public.unit on unit.position_id = state.position_id and unit.code = exit_points.unit
  inner join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  left join lateral (
    select max((place.attributes ->> 'value')::integer) as printed
    from public.map_feature_hex as at
    inner join public.map_feature as place on place.id = at.feature and place.kind = 'exit'
    where at.map_id = unit.map_id
      and at.q = unit.q
      and at.r = unit.r
      and at.role = 'at'
  ) as point on true
  cross join lateral (
    select coalesce(sum((chit.facts ->> 'exit')::integer), 0)::integer as more
    from jsonb_array_elements(state.conditions -> 'chits' -> 'open') as chit (facts)
  ) as chit
  cross join lateral (
    select
      case
        when unit.kind <> 'hero' then point.printed + chit.more
        when state.readings ->> 'ccp-22' = 'b' then chit.more
        else 0
      end as value
  ) as worth
$$;

comment on function ccp.exit_points(bigint, text, jsonb, jsonb) is
'What a unit is worth that leaves the map where it stands: the Exit Point and the chit for exits; a Hero nothing (14.2.2,
3.3.2, ccp-22).';
