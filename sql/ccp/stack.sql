-- needs: ccp/stats.sql, ccp/cover.sql
-- Who stands together in a ccp hex, and what that does to Cover and morale: 15, 3.3.5, T81.3, F100.3, F102.1.2.
--
-- In play a hex may hold any number of units; what is above seven soldier figures takes as much
-- off its Cover. Illegal is only what may never be in one hex, or on one unit.

create or replace function ccp.stack(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  place record;
begin
  select * into place from positions.place(stack.position_id, stack.hex);
  if place.q is null then
    raise exception 'no hex or unit % on the map of this position', stack.hex using errcode = 'no_data_found';
  end if;
  return query
  with ground as materialized (
    select
      hex.label,
      hex.terrain
    from public.position
    inner join public.hex on hex.map_id = position.map_id and hex.q = place.q and hex.r = place.r
    where position.id = stack.position_id
  ),
  stat as materialized (
    select
      stat.*,
      ccp._figures(stat.kind) as figures,
      stat.side = 'japan' and coalesce((stat.attributes ->> 'in_cave')::boolean, false) as inside
    from positions.state(stack.position_id, stack.conditions, stack.policy) as state
    cross join lateral ccp._stats(state) as stat
    where stat.q = place.q
      and stat.r = place.r
      and stat.kind <> 'aircraft'
  ),
  marked as materialized (
    select
      marker.kind,
      count(*) as number,
      max(marker.value) as value
    from public.marker
    where marker.position_id = stack.position_id
      and marker.q = place.q
      and marker.r = place.r
    group by marker.kind
  ),
  crowd as materialized (
    select
      coalesce(sum(stat.figures), 0)::integer as figures,
      greatest(0, coalesce(sum(stat.figures), 0) - 7)::integer as excess,
      count(*) as units,
      string_agg(stat.code, ', ' order by stat.code) as codes
    from stat
  ),
  cover as materialized (
    select *
    from ccp._covers(stack.position_id, place.q, place.r)
  ),
  shelter as materialized (
    select
      max(cover.cover) filter (where not cover.inside) as outside,
      max(cover.cover) as within
    from cover
  ),
  worth as materialized (
    select
      stat.code,
      stat.kind,
      stat.attributes,
      stat.led,
      stat.untold,
      stat.broken_leader,
      stat.wire,
      hex.cover,
      counter.morale as printed,
      counter.morale + stat.led + stat.status - stat.wire::integer + hex.cover as morale
    from stat
    cross join shelter
    cross join crowd
    cross join lateral (
      select case when stat.inside then shelter.within else shelter.outside end - crowd.excess as cover
    ) as hex
    cross join lateral (select (stat.attributes ->> 'morale')::integer as morale) as counter
  ),
  fort as materialized (
    select
      sum(marked.number) as number,
      string_agg(marked.kind, ', ' order by marked.kind) as kinds
    from marked
    inner join ccp._fortifications() as fort on fort.kind = marked.kind
  ),
  told as (
    select
      fact.n,
      null::text as code,
      fact.rule,
      fact.effect,
      fact.note,
      fact.point
    from ground
    cross join crowd
    cross join fort
    cross join shelter
    cross join lateral (
      select
        exists (select from marked where marked.kind = 'blaze') or ground.terrain = 'blaze' as is_so,
        exists (select from marked where marked.kind = 'smoke') as smoke,
        (select marked.number from marked where marked.kind = 'blaze') as number
    ) as blaze
    cross join lateral (
      values
      (
        crowd.units > 0, 1, '15.2.1', crowd.figures::text,
        format('soldier figures of both sides, inside a cave or not: %s', crowd.codes), null
      ),
      (
        crowd.excess > 0, 2, '15.2.2', (-crowd.excess)::text,
        format('%s above seven: the Cover of the hex is that much less', crowd.excess), null
      ),
      (
        crowd.excess > 0, 3, '15.2.3', 'not at set-up', 'a hex may be overstacked only once play has begun', null
      ),
      (
        blaze.is_so and (crowd.units > 0 or fort.number > 0 or blaze.smoke), 6, '15.1.5', 'forbids',
        'where a blaze is no unit, fortification or smoke may be', null
      ),
      (
        blaze.number > 1, 6, '15.1.5', 'forbids', format('one blaze a hex, not %s', blaze.number), null
      ),
      (
        fort.number > 1, 6, '15.1.3', 'forbids',
        format('one fortification a hex; the first placed stays: %s', fort.kinds), null
      ),
      (
        fort.number > 0 and ccp._is_water(ground.terrain), 6, 'F100.3', 'forbids',
        format('no fortification is in water terrain: %s', fort.kinds), null
      ),
      (
        (blaze.is_so or blaze.smoke) and ccp._is_water(ground.terrain), 6,
        case ground.terrain when 'stream' then 'T96' when 'swamp' then 'T97' else 'T99' end, 'forbids',
        'no blaze or smoke is in water terrain', null
      )
    ) as fact (holds, n, rule, effect, note, point)
    where fact.holds
    union all
    select
      4,
      null,
      cover.rule,
      cover.cover::text,
      format('Cover: %s%s', cover.source, case when cover.inside then ', for those inside' else '' end),
      null
    from cover
    union all
    select
      7,
      worth.code,
      '15.1.1',
      'forbids',
      format('%s, a leader, has a weapon that slows movement: %s', worth.code, worth.attributes -> 'weapon' ->> 'name'),
      null
    from worth
    where worth.kind not in ('squad', 'team')
      and (worth.attributes -> 'weapon' ->> 'movement')::integer < 0
    union all
    select
      8,
      null,
      '15.1.4',
      marked.value::text,
      format('of %s smoke markers the one with the largest Hindrance stays', marked.number),
      null
    from marked
    where marked.kind = 'smoke'
      and marked.number > 1
    union all
    select
      fact.n,
      worth.code,
      fact.rule,
      fact.effect,
      fact.note,
      fact.point
    from worth
    cross join lateral (
      values
      (true, 9, '3.1.4', worth.printed::text, format('%s: the morale of its counter', worth.code), null),
      (
        worth.led <> 0, 10, '3.3.1.2', to_char(worth.led, 'FMSG9'),
        format('%s: command of leaders in its hex', worth.code), null
      ),
      (
        worth.broken_leader is not null, 11, 'O27.3.4', 'command',
        format('what %s, a broken leader, still commands', worth.broken_leader), 'ccp-29'
      ),
      (
        coalesce((worth.attributes ->> 'veteran')::boolean, false), 12, '4.1.2', '+1',
        format('%s: a veteran', worth.code), null
      ),
      (
        coalesce((worth.attributes ->> 'suppressed')::boolean, false), 13, '4.2.2', '-1',
        format('%s: suppressed', worth.code), null
      ),
      (worth.wire, 14, 'F107.1', '-1', format('%s: in wire', worth.code), null),
      (
        worth.cover is not null, 15, 'T81.3.1', to_char(worth.cover, 'FMSG9'),
        format('%s: Cover, which makes its morale %s', worth.code, worth.morale), null
      )
    ) as fact (holds, n, rule, effect, note, point)
    where fact.holds
      and worth.printed is not null
    union all
    select distinct
      16,
      null,
      '3.3.1.2',
      'unknown',
      format('the command number of %s', worth.untold),
      null
    from worth
    where worth.untold is not null
  )
  select
    line.rule,
    null::text,
    ground.label,
    line.effect,
    line.note,
    line.point,
    null::text,
    null::integer,
    line.facts
  from ground
  cross join lateral (
    select
      -- what makes a unit's morale stands together
      case when told.n between 9 and 15 then 9 else told.n end as part,
      told.code,
      told.n,
      told.rule,
      told.effect,
      told.note,
      told.point,
      null::jsonb as facts
    from told
    union all
    select
      1000,
      null,
      0,
      '15.2.1',
      case when exists (select from told where told.effect = 'forbids') then 'illegal' else 'legal' end,
      case
        when exists (select from told where told.effect = 'forbids') then 'not all of this may be in one hex'
        when crowd.excess > 0 then format('overstacked by %s, at the price of Cover', crowd.excess)
        else 'within the stacking limit'
      end,
      null,
      jsonb_build_object(
        'figures', crowd.figures,
        'limit', 7,
        'over', crowd.excess,
        'at_setup', crowd.excess = 0,
        'cover', shelter.outside - crowd.excess,
        'morale', coalesce(
          (
            select jsonb_object_agg(worth.code, worth.morale)
            from worth
            where worth.morale is not null
              and worth.untold is null
          ), '{}'
        ),
        'smoke', (select marked.value from marked where marked.kind = 'smoke')
      )
    from crowd
    cross join shelter
  ) as line
  order by line.part, line.code, line.n, line.rule, line.note;
end
$$;

comment on function ccp.stack(bigint, text, jsonb, jsonb) is
'Who and what is together in a hex: figures against the limit, Cover, morale; a row a rule, the verdict last.';
