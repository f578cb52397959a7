-- needs: fpb/zoc.sql
-- Japanese rebuilds in fpb (Forgotten Pacific Battles): how many, and who: 11.1.

create or replace function fpb._orote(state positions.state)
returns table (label text, q integer, r integer, owned boolean, zoned boolean, disputed boolean)
language sql stable rows 2
as $$
  select
    hex.label,
    hex.q,
    hex.r,
    exists (
      select
      from public.marker
      where marker.position_id = state.position_id and marker.kind = 'captured' and marker.q = hex.q and marker.r = hex.r
    ) or exists (
      select
      from public.unit
      where unit.position_id = state.position_id and unit.side = 'us' and unit.q = hex.q and unit.r = hex.r
    ),
    coalesce(zone.counts, false),
    coalesce(zone.disputed, false)
  from public.hex
  left join lateral (
    select bool_or(each.counts) as counts, bool_and(each.point is not null) as disputed
    from fpb._zones(state) as each
    where each.side = 'us' and each.q = hex.q and each.r = hex.r
  ) as zone on true
  where hex.map_id = state.map_id and hex.label in ('1302', '1303')
  order by hex.label collate "C"
$$;

comment on function fpb._orote(positions.state) is
'The two hexes of Orote Airstrip on Guam: whether the US side owns them, and whether its zones cover them (11.1).';

create or replace function fpb._rebuild_limit_steps(state positions.state)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select
    '11.1', null, airstrip.label,
    case when airstrip.owned or airstrip.zoned then 'no rebuild' else 'rebuild' end,
    case
      when airstrip.owned then 'the US side owns this hex of the airstrip'
      when airstrip.zoned then 'this hex of the airstrip is in a US zone of control'
      else 'this hex of the airstrip is neither US-owned nor in a US zone of control'
    end,
    case when airstrip.disputed and not airstrip.owned then 'fpb-3' end,
    null,
    case when airstrip.owned or airstrip.zoned then 0 else 2 end,
    null::jsonb
  from fpb._orote(state) as airstrip
  where state.conditions ->> 'island' = 'guam'
  union all
  select '11.1', null, null, 'rebuilds', 'two a game turn on Tinian', null, null, 4, null::jsonb
  where state.conditions ->> 'island' = 'tinian'
  union all
  select
    '11.1', null, null, 'no rebuild', format('none on %s', initcap(state.conditions ->> 'island')), null, null, 0, null::jsonb
  where state.conditions ->> 'island' not in ('guam', 'tinian')
  union all
  select '11.1', null, null, 'unknown', 'the island', null, null, null::integer, null::jsonb
  where state.conditions ->> 'island' is null
$$;

comment on function fpb._rebuild_limit_steps(positions.state) is
'How many units the Japanese rebuild in a game turn, in halves as every ledger has it (11.1).';

drop type if exists fpb.cadre cascade;
create type fpb.cadre as (
  code text,
  label text,
  apart integer,
  attack integer,
  defense integer,
  zoned boolean,
  disputed boolean,
  better integer
);

comment on type fpb.cadre is
'A depleted Japanese unit that might be rebuilt.';
comment on column fpb.cadre.apart is 'Hexes to the nearer hex of Orote Airstrip, where the island is Guam';
comment on column fpb.cadre.better is 'In solitaire play: how many units must be rebuilt before it';

create or replace function fpb._cadres(state positions.state)
returns setof fpb.cadre
language sql stable rows 5
as $$
  with depleted as (
    select
      unit.code,
      unit.label,
      (
        select min(lattice.distance(unit.q, unit.r, airstrip.q, airstrip.r))
        from fpb._orote(state) as airstrip
        where state.conditions ->> 'island' = 'guam'
      ) as apart,
      (unit.attributes ->> 'attack')::integer as attack,
      (unit.attributes ->> 'defense')::integer as defense,
      coalesce(zone.counts, false) as zoned,
      coalesce(zone.disputed, false) as disputed
    from fpb._units(state) as unit
    left join lateral (
      select bool_or(each.counts) as counts, bool_and(each.point is not null) as disputed
      from fpb._enemy_zones(state, unit) as each
      where each.q = unit.q and each.r = unit.r
    ) as zone on true
    where unit.side = 'japan' and unit.q is not null and (unit.attributes ->> 'depleted')::boolean
  ),
  eligible as (
    select * from depleted
    -- 11.1: zones matter to the units themselves on Tinian alone
    where not (depleted.zoned and state.conditions ->> 'island' = 'tinian')
  )
  select
    depleted.*,
    case when eligible.code is not null then (
      select count(*)::integer
      from eligible as other
      where other.code <> depleted.code
        and (coalesce(other.apart, 0), -coalesce(other.attack, 0), -coalesce(other.defense, 0))
        < (coalesce(depleted.apart, 0), -coalesce(depleted.attack, 0), -coalesce(depleted.defense, 0))
    ) end
  from depleted
  left join eligible on eligible.code = depleted.code
  order by depleted.code
$$;

comment on function fpb._cadres(positions.state) is
'Every depleted Japanese unit on the map, with its rank among those that may be rebuilt: the nearest, then the strongest (11.1).';

create or replace function fpb._cadre_steps(state positions.state, cadres fpb.cadre[], most integer)
returns setof rulings.ledger_step
language sql stable rows 5
as $$
  select
    '11.1', null, cadre.label,
    case when cadre.better is null or (solitaire.played and cadre.better >= most) then 'not eligible' else 'eligible' end,
    case
      when cadre.better is null then 'it is in a US zone of control'
      when solitaire.played and cadre.better >= most then 'others come before it, nearer or stronger'
      else 'depleted'
    end,
    case when cadre.disputed and state.conditions ->> 'island' = 'tinian' then 'fpb-3' end,
    cadre.code,
    null::integer,
    null::jsonb
  from unnest(cadres) as cadre
  cross join (select coalesce(state.conditions ->> 'mode' = 'solitaire', false) as played) as solitaire
  where most > 0
  order by cadre.code
$$;

comment on function fpb._cadre_steps(positions.state, fpb.cadre[], integer) is
'Of each depleted unit whether it may be rebuilt, and why not (11.1).';

create or replace function fpb.rebuild(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
#variable_conflict use_variable
declare
  state positions.state;
  limits rulings.ledger_step[];
  cadres fpb.cadre[];
  most integer;
  done integer;
  solitaire boolean;
  eligible text[];
begin
  select * into state from positions.state(position_id, conditions, policy);
  limits := array(select step from fpb._rebuild_limit_steps(state) as step);
  return query select * from unnest(limits);
  select count(*) into done from fpb._units(state) as unit where unit.attributes ? 'rebuilt';
  select greatest(sum(step.halves) / 2 - done, 0) into most from unnest(limits) as step
  having bool_and(step.halves is not null);
  solitaire := coalesce(state.conditions ->> 'mode' = 'solitaire', false);
  cadres := array(select cadre from fpb._cadres(state) as cadre);
  return query select * from fpb._cadre_steps(state, cadres, most);
  eligible := array(
    select cadre.code from unnest(cadres) as cadre
    where most > 0 and cadre.better is not null and (not solitaire or cadre.better < most)
    order by cadre.code
  );
  return next row(
    '11.1', null, null,
    case when most is null then 'undecided' else format('limit %s', most) end,
    case when most is null then 'the island is not told' else format('%s may be rebuilt', most) end,
    null, null, 2 * most,
    jsonb_build_object(
      'limit', most,
      'eligible', eligible,
      -- 11.1: alone, a player has a choice only among equals
      'must', array(
        select cadre.code from unnest(cadres) as cadre
        where solitaire and cadre.code = any(eligible) and (
          select count(*) from unnest(cadres) as other
          where other.better <= cadre.better
        ) <= most
        order by cadre.code
      ),
      'number', case when solitaire then least(most, cardinality(eligible)) end
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.rebuild(bigint, jsonb, jsonb) is
'How many depleted Japanese units may be rebuilt now, and which; the verdict last.';
