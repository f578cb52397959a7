-- needs: ccp/events.sql
-- The end of a ccp game: who is left, what secret chits are worth, who has won: 10.2, 13.3, 14.3.4; and placement.

create or replace function ccp.holders(position_id bigint, conditions jsonb default null)
returns table (number integer, place text, holder text)
language sql stable rows 5
as $$
  select
    (place.attributes ->> 'number')::integer,
    place.code,
    coalesce(
      state.conditions -> 'control' ->> (place.attributes ->> 'number'), place.attributes ->> 'control'
    )
  from positions.state(holders.position_id, holders.conditions) as state
  inner join public.map_feature as place on place.map_id = state.map_id and place.kind = 'objective'
  where place.attributes ? 'number'
  order by 1, 2
$$;

comment on function ccp.holders(bigint, jsonb) is
'Who controls each objective now (14.3.1).';

create or replace function ccp.chit_points(position_id bigint, chits jsonb, conditions jsonb default null)
returns table (letter text, number integer, holder text, points integer)
language sql stable rows 5
as $$
  select
    chit.facts ->> 'letter',
    objective.number,
    objective.holder,
    case
      when chit.facts ? 'each' then (chit.facts ->> 'each')::integer
      else (chit.facts ->> 'value')::integer
    end
  from jsonb_array_elements(chit_points.chits) as chit (facts)
  inner join ccp.holders(chit_points.position_id, chit_points.conditions) as objective
    on chit.facts ? 'each' or (chit.facts ->> 'objective')::integer = objective.number
  where objective.holder is not null
  order by 1, 2
$$;

comment on function ccp.chit_points(bigint, jsonb, jsonb) is
'What chits are worth to whoever controls their objectives now; nothing for an objective without a holder (14.3.4).';

create or replace function ccp.standing(position_id bigint, conditions jsonb default null)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  with side as materialized (
    select
      named.side,
      count(unit.id) filter (where unit.q is not null and unit.kind not in ('aircraft', 'weapon')) as on_map,
      count(unit.id) filter (where unit.attributes ? 'box') as in_box,
      count(unit.id) filter (where (unit.attributes ->> 'eliminated')::boolean) as lost,
      count(unit.id) filter (
        where unit.attributes ? 'space' and not coalesce((unit.attributes ->> 'eliminated')::boolean, false)
      ) as waiting,
      max((unit.attributes ->> 'space')::integer) filter (where (unit.attributes ->> 'eliminated')::boolean) as space
    from (values ('japan'), ('allied')) as named (side)
    left join public.unit on unit.position_id = standing.position_id and unit.side = named.side
    group by named.side
  ),
  surrender as materialized (
    select coalesce(greatest(side.space, side.lost) >= (standing.conditions ->> 'surrender')::integer, false) as holds
    from side
    where side.side = 'allied'
  )
  select
    fact.rule,
    fact.clause,
    null,
    fact.effect,
    fact.note,
    null,
    null,
    null::integer,
    jsonb_build_object('side', fact.side, 'end', fact.end_)
  from (
    select
      '13.3' as rule, 'a' as clause, 'loses' as effect, 'the surrender space of the Allies is filled' as note,
      'allied' as side, 'surrender' as end_, 1 as n
    from surrender
    where surrender.holds
    union all
    select
      '13.3',
      case when side.lost > 0 or side.waiting = 0 then 'b' else 'c' end,
      case when side.in_box > 0 then 'saved' else 'loses' end,
      case
        when side.in_box > 0 then format('%s has nobody on the map, but a unit in an Infiltration Box', side.side)
        else format('%s has nobody left on the map', side.side)
      end,
      side.side,
      case when side.lost > 0 or side.waiting = 0 then 'elimination' else 'exit' end,
      2
    from side
    where side.on_map = 0
  ) as fact
  order by fact.n, fact.side
$$;

comment on function ccp.standing(bigint, jsonb) is
'What ends the game as it stands: the surrender space filled, a side without units on the map; units in an Infiltration
Box save it, those on the Time Track do not (13.3).';

create or replace function ccp.placement(
  position_id bigint, units jsonb, manner text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_column
declare
  state positions.state;
  lost text;
begin
  select * into state from positions.state(placement.position_id, placement.conditions, placement.policy);
  select min(put.unit) into lost
  from jsonb_each_text(placement.units) as put (unit, label)
  where not exists (
    select from public.unit where unit.position_id = placement.position_id and unit.code = put.unit
  );
  if lost is not null then
    raise exception 'there is no unit % in this position', lost using errcode = 'no_data_found';
  end if;
  select min(put.label) into lost
  from jsonb_each_text(placement.units) as put (unit, label)
  where not exists (select from public.hex where hex.map_id = state.map_id and hex.label = put.label);
  if lost is not null then
    raise exception 'there is no hex % on this map', lost using errcode = 'no_data_found';
  end if;
  return query
  with put as materialized (
    select
      unit.id,
      unit.code,
      unit.side,
      unit.kind,
      ground.*
    from jsonb_each_text(placement.units) as named (unit, label)
    inner join public.unit on unit.position_id = placement.position_id and unit.code = named.unit
    inner join ccp._plots(state) as ground on ground.label = named.label
  ),
  zone as materialized (
    select
      zone.word,
      side.code as side,
      count(at.q) > 0 as marked,
      array_agg(hex.label) as labels
    from (values ('edge'), ('setup')) as zone (word)
    cross join (values ('japan'), ('allied')) as side (code)
    left join public.map_feature as place
      on place.map_id = state.map_id and place.attributes ->> zone.word = side.code
    left join public.map_feature_hex as at on at.feature = place.id
    left join public.hex on hex.map_id = at.map_id and hex.q = at.q and hex.r = at.r
    group by zone.word, side.code
  ),
  crowd as materialized (
    select
      put.label,
      sum(ccp._figures(put.kind)) + coalesce(
        (
          select sum(ccp._figures(there.kind))
          from public.unit as there
          where there.position_id = placement.position_id
            and there.q = put.q
            and there.r = put.r
            and not there.id = any(array(select other.id from put as other))
        ), 0
      ) as figures
    from put
    group by put.label, put.q, put.r
  )
  select
    fact.rule,
    null::text,
    fact.at,
    fact.effect,
    fact.note,
    fact.point,
    null::text,
    null::integer,
    null::jsonb
  from (
    select 1 as n, '15.1.5' as rule, put.label as at, 'forbids' as effect,
      format('a blaze is in %s', put.label) as note, null as point
    from put
    where put.blaze
    union all
    select 2, '15.2.3', crowd.label, 'forbids',
      format('%s soldier figures in %s at set-up, %s too many', crowd.figures, crowd.label, crowd.figures - 7), null
    from crowd
    where manner = 'setup' and crowd.figures > 7
    union all
    select 3, '13.1.2', put.label, 'forbids', format('%s is not on the map edge of %s', put.label, put.side), null
    from put
    inner join zone on zone.word = 'edge' and zone.side = put.side and zone.marked
    where manner = 'reinforcement' and not put.label = any(zone.labels)
    union all
    select 3, '9.1', put.label, 'forbids', format('%s is not in the set-up area of %s', put.label, put.side), null
    from put
    inner join zone on zone.word = 'setup' and zone.side = put.side and zone.marked
    where manner = 'setup' and not put.label = any(zone.labels)
    union all
    select
      4, '17.4', put.label,
      case when state.readings ->> 'ccp-21' = 'b' then 'forbids' else 'allows' end,
      format('%s, of an Invader, is not in the row of hexes along his map edge', put.code), 'ccp-21'
    from put
    inner join zone on zone.word = 'edge' and zone.side = put.side and zone.marked
    where manner = 'setup'
      and state.conditions -> 'posture' ->> put.side = 'invader'
      and not put.label = any(zone.labels)
  ) as fact
  order by fact.n, fact.at, fact.note;
end
$$;

comment on function ccp.placement(bigint, jsonb, text, jsonb, jsonb) is
'What forbids that units are put into these hexes: blazes; at set-up seven figures a hex and the set-up area, later the
own map edge (13.1.2, 15.1.5, 15.2.3, 17.4, ccp-21).';
