-- needs: lattice/cells.sql, positions/command.sql
-- Command in ccp (Combat Commander: Pacific): 3.3.1.1, 3.3.3, 3.3.4, 19.1, O27.1.2, O27.1.3, O27.3.4.
--
-- A unit is in command of every leader that could activate it. What an order itself asks
-- for (a target in sight, O27.1.1; not yet activated, O20.2) is for the order to check.
-- Suppression, wire and veterans leave command as it is (4.2.2, 4.1.2).

create or replace function ccp._leaders(position_id bigint, unit text, policy jsonb)
returns table (
  code text,
  kind text,
  label text,
  away integer,
  broken boolean,
  -- how far it commands; null: it has no number, or none is told
  radius integer
)
language sql stable rows 8
as $$
  select
    leader.code,
    leader.kind,
    hex.label,
    lattice.distance(asked.q, asked.r, leader.q, leader.r),
    state.broken,
    case
      when leader.kind in ('scout', 'sogeki_hei') then null
      when state.broken and game.readings ->> 'ccp-29' = 'a' then 0
      else (leader.attributes ->> 'command')::integer
    end
  from public.position
  inner join public.unit as asked on asked.position_id = position.id and asked.code = _leaders.unit
  inner join public.unit as leader
    on leader.position_id = position.id
      and leader.side = asked.side
      and leader.kind in ('leader', 'hero', 'scout', 'sogeki_hei')
      and leader.id <> asked.id
  inner join public.hex on hex.map_id = leader.map_id and hex.q = leader.q and hex.r = leader.r
  cross join lateral (select coalesce((leader.attributes ->> 'broken')::boolean, false) as broken) as state
  cross join lateral positions.state(position.id, null, _leaders.policy) as game
  where position.id = _leaders.position_id
    and asked.q is not null
    -- 3.3.1.1: never another leader
    and asked.kind in ('squad', 'team')
$$;

comment on function ccp._leaders(bigint, text, jsonb) is
'The leaders of a unit''s side, how far away each is and how far it commands.';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function ccp.command(
  position_id bigint,
  unit text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.command_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with asked as materialized (
    select
      counter.q,
      counter.kind in ('squad', 'team') as follows,
      counter.label,
      coalesce((counter.attributes -> 'weapon' ->> 'mortar')::boolean, false) as mortar,
      case
        when (counter.attributes ->> 'broken')::boolean then 'it is broken'
        when (counter.attributes ->> 'suppressed')::boolean then 'it is suppressed'
        when melee.is_so then 'it is in a melee hex'
        when (counter.attributes -> 'weapon' ->> 'broken')::boolean then 'its mortar is broken'
      end as hindered,
      melee.is_so as in_melee
    from positions.counter(command.position_id, command.unit) as counter
    cross join lateral (
      -- 19.1: units of both sides make a melee hex, whether or not the marker is there
      select
        exists (
          select
          from public.unit as enemy
          where enemy.position_id = command.position_id
            and enemy.q = counter.q
            and enemy.r = counter.r
            and enemy.side <> counter.side
        )
        or exists (
          select
          from public.marker
          where marker.position_id = command.position_id
            and marker.q = counter.q
            and marker.r = counter.r
            and marker.kind = 'melee'
        ) as is_so
    ) as melee
  ),
  judged as materialized (
    select
      leader.*,
      case
        when leader.kind = 'sogeki_hei' then 'does not command'
        when leader.kind = 'scout' then
          case
            when asked.mortar and asked.hindered is null and not leader.broken then 'commands'
            else 'does not command'
          end
        -- its own hex is in any radius
        when leader.away = 0 or leader.away <= leader.radius then 'commands'
        when leader.radius is null then 'unknown'
        else 'does not command'
      end as effect
    from asked
    cross join ccp._leaders(command.position_id, command.unit, command.policy) as leader
  ),
  told as (
    select
      1 as step,
      leader.away,
      case
        when leader.kind = 'sogeki_hei' then '3.3.4'
        when leader.kind = 'scout' and asked.mortar and not leader.broken then 'O27.1.3'
        when leader.kind = 'scout' then '3.3.3'
        when leader.broken then 'O27.3.4'
        else '3.3.1.1'
      end as rule,
      case
        when leader.kind = 'scout' and asked.mortar and leader.broken then 'b'
        when leader.kind = 'sogeki_hei' or (leader.kind = 'scout' and not asked.mortar) then 'a'
      end as clause,
      leader.label as at,
      leader.effect,
      case
        when leader.kind = 'sogeki_hei' then format('%s, a Sogeki Hei, activates nobody', leader.code)
        when leader.kind = 'scout' and not asked.mortar
          then format('%s, a Scout, activates none but mortars', leader.code)
        when leader.kind = 'scout' and leader.broken
          then format('%s, a broken Scout, activates no mortar', leader.code)
        when leader.kind = 'scout' and leader.effect = 'commands'
          then format('%s, a Scout at any distance, to fire its mortar at an enemy whom he sees', leader.code)
        when leader.kind = 'scout' then format('%s, a Scout, but %s', leader.code, asked.hindered)
        when leader.effect = 'unknown' then format('the command number of %s', leader.code)
        else
          format(
            '%s%s: range %s%s%s',
            leader.code,
            case when leader.broken then ', broken' else '' end,
            leader.away,
            ', command ' || leader.radius,
            case when leader.effect <> 'commands' then format(', %s too far', leader.away - leader.radius) end
          )
      end as note,
      case when leader.broken and leader.kind in ('leader', 'hero') then 'ccp-29' end as point,
      leader.code as by
    from asked
    cross join judged as leader
    union all
    select
      2,
      0,
      '3.3.1.1',
      null,
      asked.label,
      'does not command',
      'a leader is activated for itself, never by another',
      null,
      null
    from asked
    where not asked.follows
    union all
    select
      3,
      0,
      'O27.1.2',
      null,
      asked.label,
      'cannot fire',
      'no unit in a melee hex is activated to fire',
      null,
      null
    from asked
    where asked.in_melee
    union all
    select
      4,
      0,
      gift.rule,
      null,
      asked.label,
      gift.effect,
      gift.note,
      null,
      null
    from asked
    cross join (
      values
      (array['leader', 'hero'], '3.3.1.1', 'gives orders', 'the order or Op Fire of the leader'),
      (array['scout'], 'O27.1.3', 'gives mortar fire', 'a Fire order for its mortar, and no other')
    ) as gift (kinds, rule, effect, note)
    where exists (select from judged where judged.effect = 'commands' and judged.kind = any(gift.kinds))
    union all
    select
      5,
      0,
      '3.3.1.1',
      null,
      asked.label,
      verdict.effect,
      case
        when asked.q is null then format('%s is not on the map', command.unit)
        when verdict.effect = 'in command' then 'a leader could activate it'
        when verdict.effect = 'unknown' then 'what a counter does not tell would decide it'
        else 'it can only be activated by itself'
      end,
      null,
      null
    from asked
    cross join lateral (
      select
        positions._command_verdict(
          bool_or(judged.effect = 'commands'), bool_or(judged.effect = 'unknown')
        ) as effect
      from judged
    ) as verdict
  )
  select
    told.rule,
    told.clause,
    told.at,
    told.effect,
    told.note,
    told.point,
    told.by
  from told
  order by told.step, told.away, told.by, told.rule;
end
$$;

comment on function ccp.command(bigint, text, jsonb, jsonb) is
'Whether a leader could activate a unit, and which: a row for every rule that speaks, the verdict last.';
